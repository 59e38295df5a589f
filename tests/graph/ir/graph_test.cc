// The in-memory graph: editing, naming, order.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Graph::NewAttr> Float() { return {{"T", attr::Type(DataType::kFloat)}}; }

NodeId Add(Graph& graph, std::string_view name, std::string_view op, std::vector<Output> inputs) {
  const absl::StatusOr<NodeId> n =
      graph.AddNode(name, op, inputs, op == "NoOp" ? std::vector<Graph::NewAttr>() : Float());
  EXPECT_TRUE(n.ok()) << n.status();
  return n.value_or(kNoNode);
}

NodeId Source(Graph& graph, std::string_view name) {
  return graph.AddNode(name, "Placeholder", {}, {{"dtype", attr::Type(DataType::kFloat)}})
      .value_or(kNoNode);
}

std::vector<std::string> Names(const AttrSet& attrs) {
  std::vector<std::string> names;
  for (const Attr& a : attrs.all()) names.emplace_back(a.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Graph, AddsNodesWithTypesAndDefaults) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId y = Add(graph, "y", "MatMul", {{x, 0}, {x, 0}, {x, kControlPort}});
  EXPECT_EQ(graph.num_inputs(y), 2);
  EXPECT_THAT(graph.control_inputs(y), ElementsAre(Output{x, kControlPort}));
  EXPECT_EQ(graph.output_type({y, 0}), DataType::kFloat);
  EXPECT_EQ(graph.input_type(y, 1), DataType::kFloat);
  ASSERT_NE(graph.attr(y, "transpose_a"), nullptr);
  EXPECT_EQ(*graph.attr(y, "transpose_a")->AsBool(), false);
  EXPECT_EQ(graph.attr(y, "no_such"), nullptr);
  EXPECT_EQ(graph.AddNode("y", "NoOp", {}, {}).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(graph.AddNode("z", "NoOp", std::vector<Output>{{9, 0}}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Verify(graph), ElementsAre());
}

TEST(Graph, EqualNodesShareTheirKind) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId a = Add(graph, "a", "Relu", {{x, 0}});
  const NodeId b = Add(graph, "b", "Relu", {{a, 0}});
  EXPECT_EQ(&graph.kind(a), &graph.kind(b));
  graph.SetAttr(b, "_x", attr::Int(1));
  EXPECT_NE(&graph.kind(a), &graph.kind(b));
  graph.RemoveAttr(b, "_x");
  EXPECT_EQ(&graph.kind(a), &graph.kind(b));
}

TEST(Graph, EditsInputs) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId y = Source(graph, "y");
  const NodeId a = Add(graph, "a", "AddV2", {{x, 0}, {x, 0}});
  const NodeId b = Add(graph, "b", "Relu", {{a, 0}});
  graph.SetInput(a, 1, {y, 0});
  EXPECT_THAT(graph.inputs(a), ElementsAre(Output{x, 0}, Output{y, 0}));
  for (int i = 0; i < 3; ++i) graph.AddControlInput(a, y);
  graph.AddControlInput(a, x);
  graph.AddControlInput(b, x);
  EXPECT_THAT(graph.inputs(a), ElementsAre(Output{x, 0}, Output{y, 0}, Output{y, kControlPort},
                                           Output{x, kControlPort}));
  EXPECT_THAT(graph.inputs(b), ElementsAre(Output{a, 0}, Output{x, kControlPort}));
  // Spans of the graph itself as arguments.
  graph.SetInputs(b, graph.data_inputs(a), graph.control_inputs(a));
  EXPECT_EQ(graph.inputs(b).size(), 4u);
  graph.SetInputs(a, {}, graph.control_inputs(a));
  EXPECT_THAT(graph.inputs(a), ElementsAre(Output{y, kControlPort}, Output{x, kControlPort}));
}

TEST(Graph, RemovesNodesAndReusesNames) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId a = Add(graph, "a", "Relu", {{x, 0}});
  graph.RemoveNode(a);
  EXPECT_FALSE(graph.alive(a));
  EXPECT_EQ(graph.num_nodes(), 1);
  EXPECT_EQ(graph.FindNode("a"), kNoNode);
  const NodeId again = Add(graph, "a", "Relu", {{x, 0}});
  EXPECT_NE(again, a);
  EXPECT_EQ(graph.FindNode("a"), again);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = absl::StrCat("n", i);
    const NodeId n = Add(graph, name, "NoOp", {});
    if (i % 3 == 0) graph.RemoveNode(n);
  }
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(graph.FindNode(absl::StrCat("n", i)) == kNoNode, i % 3 == 0);
}

// A file may give several nodes one name, which is a defect.
TEST(Graph, ANameIsTakenWhileANodeHasIt) {
  Graph graph = ImportBytes(
                    "node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'NoOp' }"
                    "node { name: 'a' op: 'NoOp' } node { name: 'a' op: 'NoOp' }",
                    "test")
                    ->graph;
  EXPECT_EQ(graph.FindNode("a"), 0);
  graph.RemoveNode(2);
  EXPECT_EQ(graph.FindNode("a"), 0);
  graph.RemoveNode(1);
  EXPECT_EQ(graph.FindNode("b"), kNoNode);
  graph.RemoveNode(0);
  EXPECT_EQ(graph.FindNode("a"), 3);
  EXPECT_EQ(graph.UniqueName("a"), "a_1");
  EXPECT_EQ(graph.AddNode("a", "NoOp", {}, {}).status().code(), absl::StatusCode::kAlreadyExists);
  graph.RemoveNode(3);
  EXPECT_EQ(graph.FindNode("a"), kNoNode);
  EXPECT_EQ(graph.AddNode("a", "NoOp", {}, {}).value_or(kNoNode), 4);
}

TEST(Graph, UniqueNames) {
  Graph graph;
  EXPECT_EQ(graph.UniqueName("a"), "a");
  for (int i = 0; i < 100; ++i) {
    const std::string name = graph.UniqueName("a");
    EXPECT_EQ(graph.FindNode(name), kNoNode);
    Add(graph, name, "NoOp", {});
  }
  EXPECT_NE(graph.FindNode("a_99"), kNoNode);
}

TEST(Graph, ParsesOutputs) {
  Graph graph;
  const NodeId x = Source(graph, "scope/x");
  const NodeId s = Add(graph, "switch", "Switch", {{x, 0}, {x, 0}});
  EXPECT_EQ(*graph.ParseOutput("scope/x"), (Output{x, 0}));
  EXPECT_EQ(*graph.ParseOutput("switch:1"), (Output{s, 1}));
  EXPECT_EQ(*graph.ParseOutput("^switch"), (Output{s, kControlPort}));
  EXPECT_EQ(graph.OutputName({s, 1}), "switch:1");
  EXPECT_EQ(graph.OutputName({s, 0}), "switch");
  EXPECT_EQ(graph.OutputName({s, kControlPort}), "^switch");
  EXPECT_EQ(graph.ParseOutput("switch:2").status(),
            absl::InvalidArgumentError(
                "node 'switch' (Switch) has no output 2; it has 2, switch:0 to switch:1"));
  EXPECT_EQ(graph.ParseOutput("switch:x").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(graph.ParseOutput("switch:-1").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(graph.ParseOutput("scope/y").status().message()),
              HasSubstr("did you mean 'scope/x'"));
}

TEST(Graph, MakesConstants) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId y = Add(graph, "y", "Relu", {{x, 0}, {x, kControlPort}});
  const float values[] = {1, 2, 3};
  ASSERT_TRUE(graph.MakeConst(y, Tensor::Of<float>(DataType::kFloat, values, Shape({3}))).ok());
  EXPECT_EQ(graph.op_name(y), "Const");
  EXPECT_THAT(graph.inputs(y), ElementsAre(Output{x, kControlPort}));
  const absl::StatusOr<Tensor> value = graph.ConstValue(y);
  ASSERT_TRUE(value.ok());
  ASSERT_EQ(value->bytes(), sizeof(values));
  EXPECT_EQ(std::memcmp(value->data(), values, sizeof(values)), 0);  // perhaps unaligned
  EXPECT_EQ(graph.ConstValue(x).status().code(), absl::StatusCode::kInvalidArgument);
}

// Marks stay with the node; what is said of its kernel, or of ends that it has no more, does not.
TEST(Graph, BecomesAnotherOpWithItsMarks) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId y = Add(graph, "y", "Relu", {{x, 0}});
  graph.SetAttr(y, "_mark", attr::String("mine"));
  graph.SetAttr(y, "_kernel", attr::String("other"));
  graph.SetAttr(y, "_read_only_resource_inputs", attr::IntList({0}));
  graph.SetAttr(y, "_output_shapes", attr::ShapeList({PartialShape({3})}));
  graph.BecomeOp(y, "Neg", {{"T", attr::Type(DataType::kFloat)}});
  EXPECT_THAT(Names(graph.attrs(y)), ElementsAre("T", "_mark", "_output_shapes"));
  graph.SetInputs(y, {}, {});
  graph.BecomeOp(y, "NoOp", {{"_mark", attr::String("another")}});
  EXPECT_THAT(Names(graph.attrs(y)), ElementsAre("_mark"));
  EXPECT_EQ(graph.attr(y, "_mark")->AsString().value(), "another");
}

TEST(Graph, ConstantsOutliveTheirGraph) {
  Tensor value;
  {
    Graph graph;
    const int32_t one = 1;
    const NodeId c = Add(graph, "c", "NoOp", {});
    ASSERT_TRUE(graph.MakeConst(c, Tensor::Of<int32_t>(DataType::kInt32, {&one, 1}, Shape())).ok());
    value = *graph.ConstValue(c);
  }
  int32_t read;
  std::memcpy(&read, value.data(), sizeof(read));
  EXPECT_EQ(read, 1);
}

TEST(Graph, VerifyFindsWhatEditsBroke) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId y = Add(graph, "y", "Relu", {{x, 0}});
  graph.RemoveNode(x);
  const std::vector<Defect> defects = Verify(graph);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].code, DefectCode::kInput);
  EXPECT_EQ(defects[0].node, graph.name(y));
  EXPECT_EQ(defects[0].where, "node 'y'");
}

TEST(TopologicalOrder, KeepsIdsThatAreInOrderAndSortsOthers) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId a = Add(graph, "a", "Relu", {{x, 0}});
  const NodeId b = Add(graph, "b", "Relu", {{x, 0}});
  const NodeId c = Add(graph, "c", "AddV2", {{a, 0}, {b, 0}});
  EXPECT_THAT(*TopologicalOrder(graph), ElementsAre(x, a, b, c));
  const NodeId late = Source(graph, "late");
  graph.SetInput(a, 0, {late, 0});
  EXPECT_THAT(*TopologicalOrder(graph), ElementsAre(x, late, a, b, c));
  graph.SetInput(a, 0, {c, 0});
  const absl::Status status = TopologicalOrder(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'a' -> 'c' -> 'a'"));
}

TEST(Fanouts, CountsEveryUse) {
  Graph graph;
  const NodeId x = Source(graph, "x");
  const NodeId s = Add(graph, "s", "Switch", {{x, 0}, {x, 0}});
  const NodeId a = Add(graph, "a", "AddV2", {{s, 1}, {s, 1}, {s, kControlPort}});
  const Fanouts fanouts(graph);
  EXPECT_EQ(fanouts.count({x, 0}), 2);
  EXPECT_EQ(fanouts.count({s, 0}), 0);
  EXPECT_EQ(fanouts.count({s, 1}), 2);
  EXPECT_EQ(fanouts.count({s, kControlPort}), 1);
  EXPECT_EQ(fanouts.of(a).size(), 0u);
  EXPECT_EQ(fanouts.of(s)[2].input, 2);
}

}  // namespace
}  // namespace tenon
