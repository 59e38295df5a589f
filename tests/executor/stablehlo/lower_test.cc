// The text of programs: forms that matter, and what comes beside the text.
#include "executor/stablehlo/lower.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "executor/compile/passes/evaluator.h"
#include "executor/stablehlo/text.h"
#include "executor/stablehlo/trace.h"
#include "graph/io/io.h"
#include "plugin/kernels/kernel_registry.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::stablehlo {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using testing::Func;
using ::testing::HasSubstr;
using testing::Library;
using testing::Node;
using ::testing::Not;
using testing::Parse;
using testing::Placeholder;
using testing::Ret;

struct Feed {
  std::string name;
  DataType dtype;
  Shape shape;
  Tensor value;
};

struct Options {
  bool allow_tf32 = false, node_names = false, folds = true;
};

absl::StatusOr<Program> LowerGraph(const Graph& graph, const std::vector<Feed>& feeds,
                                   const std::vector<std::string>& fetches, Options options = {}) {
  std::vector<Argument> arguments;
  for (const Feed& feed : feeds)
    arguments.push_back({{graph.FindNode(feed.name), 0}, feed.dtype, feed.shape, feed.value});
  std::vector<Output> results;
  for (const std::string& fetch : fetches) results.push_back(graph.ParseOutput(fetch).value());
  CpuEvaluator evaluator(KernelRegistry::Global());
  return Lower({.graph = &graph,
                .arguments = arguments,
                .results = results,
                .evaluator = options.folds ? &evaluator : nullptr,
                .allow_tf32 = options.allow_tf32,
                .node_names = options.node_names});
}

Program Lowered(const Graph& graph, const std::vector<Feed>& feeds,
                const std::vector<std::string>& fetches, Options options = {}) {
  absl::StatusOr<Program> program = LowerGraph(graph, feeds, fetches, options);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : Program();
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  return text;
}

// Who compares programs by their traces relies on it.
TEST(StableHlo, TracesEachOpOfTheText) {
  const std::string index = testing::Type("Tidx", "DT_INT32");
  const Graph graph = Parse(
      Placeholder("x", "dim { size: 4 } dim { size: 6 }") +
      Const("axis", "DT_INT32", "tensor_shape { } int_val: 1") +
      Const("k", "DT_INT32", "tensor_shape { } int_val: 2") + Node("a", "Softmax", {"x"}) +
      Node("b", "Cumsum", {"a", "axis"}, index) + Node("c", "TopKV2", {"b", "k"}) +
      Node("d", "ArgMax", {"b", "axis"}, index + testing::Type("output_type", "DT_INT32")) +
      testing::Op("e", "GatherV2", {"x", "d", "axis"},
                  testing::Type("Tparams", "DT_FLOAT") + testing::Type("Tindices", "DT_INT32") +
                      testing::Type("Taxis", "DT_INT32")) +
      Node("f", "BatchMatMulV2", {"c", "c"}, "attr { key: 'adj_y' value { b: true } }") +
      Node("g", "Pow", {"f", "f"}));
  const std::vector<Argument> arguments = {
      {{graph.FindNode("x"), 0}, DataType::kFloat, Shape({4, 6}), {}}};
  const std::vector<Output> results = {{graph.FindNode("e"), 0}, {graph.FindNode("g"), 0}};
  const auto program =
      Lower({.graph = &graph, .arguments = arguments, .results = results, .trace = true});
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_NE(program->trace, nullptr);
  size_t ops = 0;
  for (std::string_view line : absl::StrSplit(program->text, '\n')) {
    line = absl::StripLeadingAsciiWhitespace(line);
    ops += line.starts_with("%") || line.starts_with("stablehlo.return") ? 1 : 0;
  }
  EXPECT_GT(ops, 20u);
  EXPECT_EQ(program->trace->ops.size(), ops) << program->text;
  EXPECT_EQ(program->trace->results.size(), program->results.size());
}

TEST(StableHlo, RefusesSizesBeyondTheirType) {
  const Graph graph = Parse(Placeholder("x", "unknown_rank: true") +
                            Node("y", "Size", {"x"}, testing::Type("out_type", "DT_INT32")) +
                            Node("z", "Size", {"x"}, testing::Type("out_type", "DT_INT64")));
  const std::vector<Feed> feeds = {{"x", DataType::kFloat, Shape({65536, 65536}), {}}};
  const absl::Status status = LowerGraph(graph, feeds, {"y"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), HasSubstr("4294967296 is beyond int32"));
  EXPECT_THAT(Lowered(graph, feeds, {"z"}).text, HasSubstr("dense<4294967296> : tensor<i64>"));
}

TEST(StableHlo, PrintsADenseLayer) {
  const Graph graph = Parse(
      Placeholder("x", "dim { size: -1 } dim { size: 2 }") +
      Const("w", "DT_FLOAT", "tensor_shape { dim { size: 2 } dim { size: 3 } } float_val: 0.5") +
      Const("b", "DT_FLOAT", "tensor_shape { dim { size: 3 } } float_val: [1, -2, 1.0e-12]") +
      Node("m", "MatMul", {"x", "w"}) + Node("a", "BiasAdd", {"m", "b"}) +
      Node("y", "Relu", {"a"}));
  const Program program = Lowered(graph, {{"x", DataType::kFloat, Shape({4, 2}), {}}}, {"y"});
  EXPECT_EQ(
      program.text,
      Joined({"module {", "  func.func public @main(%arg0: tensor<4x2xf32>) -> (tensor<4x3xf32>) {",
              "    %0 = stablehlo.constant dense<0.5> : tensor<2x3xf32>",
              "    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = "
              "[HIGHEST, HIGHEST] : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>",
              "    %2 = stablehlo.constant dense<[1.0, -2.0, 9.99999996e-13]> : tensor<3xf32>",
              "    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf32>) -> "
              "tensor<4x3xf32>",
              "    %4 = stablehlo.add %1, %3 : tensor<4x3xf32>",
              "    %5 = stablehlo.constant dense<0.0> : tensor<4x3xf32>",
              "    %6 = stablehlo.maximum %4, %5 : tensor<4x3xf32>",
              "    return %6 : tensor<4x3xf32>", "  }", "}"}));
  ASSERT_EQ(program.parameters.size(), 1);
  EXPECT_EQ(program.parameters[0].argument, 0);
  ASSERT_EQ(program.results.size(), 1);
  EXPECT_EQ(program.results[0].shape, Shape({4, 3}));
  EXPECT_TRUE(program.checks.empty());
  // A line has the node that it came from.
  const std::vector<std::string> text = absl::StrSplit(program.text, '\n');
  ASSERT_EQ(program.line_nodes.size() + 1, text.size());
  EXPECT_EQ(program.line_nodes[3], graph.FindNode("m"));
  EXPECT_EQ(program.line_nodes[6], graph.FindNode("a"));
  EXPECT_EQ(program.line_nodes[8], graph.FindNode("y"));
  EXPECT_EQ(program.line_nodes[0], kNoNode);
}

TEST(StableHlo, AllowsTf32OnlyWhereAsked) {
  const Graph graph =
      Parse(Placeholder("x", "dim { size: 2 } dim { size: 2 }") + Node("y", "MatMul", {"x", "x"}));
  const std::vector<Feed> feeds = {{"x", DataType::kFloat, Shape({2, 2}), {}}};
  EXPECT_THAT(Lowered(graph, feeds, {"y"}).text, HasSubstr("precision = [HIGHEST, HIGHEST]"));
  EXPECT_THAT(Lowered(graph, feeds, {"y"}, {.allow_tf32 = true}).text,
              HasSubstr("precision = [DEFAULT, DEFAULT]"));
}

TEST(StableHlo, SumsHalvesInFloat) {
  const Graph graph = Parse(Placeholder("x", "dim { size: 2 } dim { size: 2 }", "DT_BFLOAT16") +
                            Node("y", "MatMul", {"x", "x"}, "", "DT_BFLOAT16"));
  const Program program = Lowered(graph, {{"x", DataType::kBfloat16, Shape({2, 2}), {}}}, {"y"});
  EXPECT_THAT(program.text, HasSubstr("-> tensor<2x2xf32>\n"));
  EXPECT_THAT(program.text,
              HasSubstr("stablehlo.convert %0 : (tensor<2x2xf32>) -> tensor<2x2xbf16>"));
}

// A name cannot end its comment, and so cannot write into the program.
TEST(StableHlo, EscapesNames) {
  Graph graph = Parse(Placeholder("x", "") + Node("y", "Neg", {"x"}));
  const NodeId evil = graph
                          .AddNode("a\n return\x7f\xff" + std::string(200, 'b'), "Neg",
                                   std::vector<Output>{{graph.FindNode("y"), 0}},
                                   {{"T", attr::Type(DataType::kFloat)}})
                          .value();
  const Program program = Lowered(graph, {{"x", DataType::kFloat, Shape(), {}}},
                                  {graph.OutputName({evil, 0})}, {.node_names = true});
  EXPECT_THAT(program.text, HasSubstr("%0 = stablehlo.negate %arg0 : tensor<f32> // y\n"));
  EXPECT_THAT(program.text, HasSubstr("// a? return??bbb"));
  EXPECT_THAT(program.text, HasSubstr("bbb...\n"));
  EXPECT_EQ(std::ranges::count(program.text, '\n'), 7);
}

TEST(StableHlo, MakesParametersOfLargeConstants) {
  std::string values;
  for (int i = 0; i < 300; ++i) absl::StrAppend(&values, i > 0 ? ", " : "", i);
  const Graph graph =
      Parse(Placeholder("x", "dim { size: 300 }") + Placeholder("unread", "") +
            Const("w", "DT_FLOAT",
                  absl::StrCat("tensor_shape { dim { size: 300 } } float_val: [", values, "]")) +
            Const("z", "DT_FLOAT", "tensor_shape { dim { size: 300 } } float_val: 2") +
            Node("a", "Mul", {"x", "w"}) + Node("y", "Add", {"a", "z"}));
  const Program program = Lowered(
      graph, {{"unread", DataType::kFloat, Shape(), {}}, {"x", DataType::kFloat, Shape({300}), {}}},
      {"y"});
  ASSERT_EQ(program.parameters.size(), 2);
  EXPECT_EQ(program.parameters[0].argument, 1);
  EXPECT_EQ(program.parameters[1].argument, -1);
  EXPECT_EQ(program.parameters[1].weight, graph.FindNode("w"));
  EXPECT_EQ(program.parameters[1].value.num_elements(), 300);
  EXPECT_THAT(program.text, HasSubstr("@main(%arg1: tensor<300xf32>, %w0: tensor<300xf32>)"));
  EXPECT_THAT(program.text, HasSubstr("dense<2.0> : tensor<300xf32>"));
}

TEST(StableHlo, ChecksWhatWouldFail) {
  const Graph graph = Parse(
      Placeholder("x", "dim { size: 2 }", "DT_INT32") +
      Placeholder("t", "dim { size: 5 } dim { size: 2 }") +
      Node("q", "FloorDiv", {"x", "x"}, "", "DT_INT32") +
      Const("axis", "DT_INT32", "tensor_shape { } int_val: 0") +
      testing::Op("g", "GatherV2", {"t", "x", "axis"},
                  "attr { key: 'Tparams' value { type: DT_FLOAT } } attr { key: 'Tindices' "
                  "value { type: DT_INT32 } } attr { key: 'Taxis' value { type: DT_INT32 } }"));
  const Program program = Lowered(
      graph, {{"x", DataType::kInt32, Shape({2}), {}}, {"t", DataType::kFloat, Shape({5, 2}), {}}},
      {"q", "g"});
  ASSERT_EQ(program.checks.size(), 2);
  EXPECT_EQ(program.results.size(), 4);
  EXPECT_EQ(program.checks[0].name, "q");
  EXPECT_EQ(program.checks[0].message, "Integer division by zero");
  EXPECT_EQ(program.checks[1].node, graph.FindNode("g"));
  EXPECT_EQ(program.checks[1].message, "an index is not in [0, 5)");
  EXPECT_EQ(program.results[3].dtype, DataType::kBool);
}

// Strides and dilations as the kernels of the host take them.
TEST(StableHlo, RefusesStepsThatTheHostRefuses) {
  const auto lowered = [](const std::string& node, const std::vector<Shape>& shapes) {
    std::string text = node;
    std::vector<Feed> feeds;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = absl::StrCat("p", i);
      absl::StrAppend(&text, Placeholder(name, ""));
      feeds.push_back({name, DataType::kFloat, shapes[i], {}});
    }
    const Graph graph = Parse(
        text +
        Const("images", "DT_INT32", "tensor_shape { dim { size: 4 } } int_val: [1, 5, 5, 2]") +
        Const("filter", "DT_INT32", "tensor_shape { dim { size: 4 } } int_val: [2, 2, 2, 2]"));
    return std::string(LowerGraph(graph, feeds, {"y"}).status().message());
  };
  const auto list = [](const char* name, const std::string& values) {
    return absl::StrCat("attr { key: '", name, "' value { list { i: [", values, "] } } } ");
  };
  const std::string same = "attr { key: 'padding' value { s: 'SAME' } } ";
  const Shape images({1, 5, 5, 2}), filter({2, 2, 2, 2});
  for (const char* const strides : {"1, 0, 1, 1", "1, 1, -1, 1"}) {
    const std::string attrs = same + list("strides", strides);
    const std::string pool = attrs + list("ksize", "1, 2, 2, 1");
    EXPECT_THAT(lowered(Node("y", "AvgPoolGrad", {"images", "p0"}, pool), {images}),
                HasSubstr("each of the strides must be positive"));
    EXPECT_THAT(
        lowered(Node("y", "MaxPoolGrad", {"p0", "p1", "p2"}, pool), {images, images, images}),
        HasSubstr("each of the strides must be positive"));
    EXPECT_THAT(
        lowered(Node("y", "Conv2DBackpropFilter", {"p0", "filter", "p1"}, attrs), {images, images}),
        HasSubstr("each of the strides must be positive"));
  }
  for (const char* const dilations : {"2, 1, 1, 1", "1, 1, 1, 2"}) {
    EXPECT_THAT(lowered(Node("y", "Conv2D", {"p0", "p1"},
                             same + list("strides", "1, 1, 1, 1") + list("dilations", dilations)),
                        {images, filter}),
                HasSubstr("the dilations must be 1 for batch and channels"));
  }
  EXPECT_EQ(lowered(Node("y", "Conv2D", {"p0", "p1"},
                         same + list("strides", "1, 1, 1, 1") + list("dilations", "1, 2, 3, 1")),
                    {images, filter}),
            "");
}

// TensorFlow's gradients of depthwise convolutions compute as if all dilations were 1.
TEST(StableHlo, DepthwiseGradientsHaveNoDilations) {
  const auto text = [](const char* op, std::vector<std::string> inputs, int dilation) {
    const Graph graph = Parse(
        Placeholder("x", "") + Placeholder("w", "") + Placeholder("dy", "") +
        Const("images", "DT_INT32", "tensor_shape { dim { size: 4 } } int_val: [1, 5, 5, 2]") +
        Const("filter", "DT_INT32", "tensor_shape { dim { size: 4 } } int_val: [3, 3, 2, 1]") +
        Node("y", op, std::move(inputs),
             absl::StrCat("attr { key: 'padding' value { s: 'SAME' } } "
                          "attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } } "
                          "attr { key: 'dilations' value { list { i: [1, ",
                          dilation, ", ", dilation, ", 1] } } }")));
    return Lowered(graph,
                   {{"x", DataType::kFloat, Shape({1, 5, 5, 2}), {}},
                    {"w", DataType::kFloat, Shape({3, 3, 2, 1}), {}},
                    {"dy", DataType::kFloat, Shape({1, 5, 5, 2}), {}}},
                   {"y"})
        .text;
  };
  for (const auto& [op, inputs] : {std::pair("DepthwiseConv2dNativeBackpropInput",
                                             std::vector<std::string>{"images", "w", "dy"}),
                                   std::pair("DepthwiseConv2dNativeBackpropFilter",
                                             std::vector<std::string>{"x", "filter", "dy"})}) {
    EXPECT_EQ(text(op, inputs, 2), text(op, inputs, 1)) << op;
  }
}

// A function whose arguments and results are written as they stand in a signature.
std::string TypedFunction(std::string_view name, std::string_view signature, std::string nodes,
                          std::string_view ret) {
  for (size_t at = nodes.find("node {"); at != nodes.npos; at = nodes.find("node {", at + 9))
    nodes.replace(at, 6, "node_def {");
  return absl::StrCat("function { signature { name: '", name, "' ", signature, " }\n", nodes, ret,
                      " }\n");
}

// A loop that adds x to v while i < 3, and hands x on.
Graph LoopGraph() {
  constexpr std::string_view kArguments =
      "input_arg { name: 'i' type: DT_INT32 } input_arg { name: 'v' type: DT_FLOAT } "
      "input_arg { name: 'x' type: DT_FLOAT } ";
  const std::string body = TypedFunction(
      "body",
      absl::StrCat(kArguments,
                   "output_arg { name: 'i2' type: DT_INT32 } output_arg { name: 'v2' type: "
                   "DT_FLOAT } output_arg { name: 'x2' type: DT_FLOAT }"),
      Const("one", "DT_INT32", "tensor_shape { } int_val: 1") +
          Node("next", "AddV2", {"i", "one:output:0"}, "", "DT_INT32") +
          Node("sum", "AddV2", {"v", "x"}),
      Ret("i2", "next:z:0") + Ret("v2", "sum:z:0") + Ret("x2", "x"));
  const std::string cond =
      TypedFunction("cond", absl::StrCat(kArguments, "output_arg { name: 'go' type: DT_BOOL }"),
                    Const("n", "DT_INT32", "tensor_shape { } int_val: 3") +
                        Node("less", "Less", {"i", "n:output:0"}, "", "DT_INT32"),
                    Ret("go", "less:z:0"));
  return Parse(Placeholder("x", "") + Const("i", "DT_INT32", "tensor_shape { } int_val: 0") +
               testing::Op("w", "While", {"i", "x", "x"},
                           testing::Types("T", {"DT_INT32", "DT_FLOAT", "DT_FLOAT"}) +
                               Func("cond", "cond") + Func("body", "body")) +
               Library({body, cond}));
}

TEST(StableHlo, PrintsLoopsWithTheirRegions) {
  const Graph graph = LoopGraph();
  const Program program = Lowered(graph, {{"x", DataType::kFloat, Shape(), {}}}, {"w:1", "w:2"});
  EXPECT_EQ(program.text,
            Joined({"module {",
                    "  func.func public @main(%arg0: tensor<f32>) -> (tensor<f32>, tensor<f32>) {",
                    "    %0 = stablehlo.constant dense<0> : tensor<i32>",
                    "    %8:2 = stablehlo.while(%1 = %0, %2 = %arg0) : tensor<i32>, tensor<f32>",
                    "    cond {", "      %3 = stablehlo.constant dense<3> : tensor<i32>",
                    "      %4 = stablehlo.compare LT, %1, %3, SIGNED : (tensor<i32>, tensor<i32>) "
                    "-> tensor<i1>",
                    "      stablehlo.return %4 : tensor<i1>", "    } do {",
                    "      %5 = stablehlo.constant dense<1> : tensor<i32>",
                    "      %6 = stablehlo.add %1, %5 : tensor<i32>",
                    "      %7 = stablehlo.add %2, %arg0 : tensor<f32>",
                    "      stablehlo.return %6, %7 : tensor<i32>, tensor<f32>", "    }",
                    "    return %8#1, %arg0 : tensor<f32>, tensor<f32>", "  }", "}"}));
  EXPECT_TRUE(std::all_of(program.line_nodes.begin() + 3, program.line_nodes.end() - 3,
                          [&](NodeId n) { return n == graph.FindNode("w"); }));
}

// A list that grows by an element in each of three iterations has room for three, and a count.
TEST(StableHlo, GivesGrowingListsRoom) {
  constexpr std::string_view kArguments =
      "input_arg { name: 'i' type: DT_INT32 } input_arg { name: 'l' type: DT_VARIANT } input_arg { "
      "name: 'x' type: DT_FLOAT } ";
  const std::string type = testing::Type("element_dtype", "DT_FLOAT");
  const std::string body = TypedFunction(
      "body",
      absl::StrCat(kArguments,
                   "output_arg { name: 'i2' type: DT_INT32 } output_arg { name: 'l2' type: "
                   "DT_VARIANT } output_arg { name: 'x2' type: DT_FLOAT }"),
      Const("one", "DT_INT32", "tensor_shape { } int_val: 1") +
          Node("next", "AddV2", {"i", "one:output:0"}, "", "DT_INT32") +
          testing::Op("push", "TensorListPushBack", {"l", "x"}, type),
      Ret("i2", "next:z:0") + Ret("l2", "push:output_handle:0") + Ret("x2", "x"));
  const std::string cond =
      TypedFunction("cond", absl::StrCat(kArguments, "output_arg { name: 'go' type: DT_BOOL }"),
                    Const("n", "DT_INT32", "tensor_shape { } int_val: 3") +
                        Node("less", "Less", {"i", "n:output:0"}, "", "DT_INT32"),
                    Ret("go", "less:z:0"));
  const std::string shape_type = testing::Type("shape_type", "DT_INT32");
  const Graph graph = Parse(
      Placeholder("x", "dim { size: 2 }") + Const("i", "DT_INT32", "tensor_shape { } int_val: 0") +
      Const("any", "DT_INT32", "tensor_shape { } int_val: -1") +
      testing::Op("empty", "EmptyTensorList", {"any", "any"}, type + shape_type) +
      testing::Op("w", "While", {"i", "empty", "x"},
                  testing::Types("T", {"DT_INT32", "DT_VARIANT", "DT_FLOAT"}) +
                      Func("cond", "cond") + Func("body", "body")) +
      testing::Op("s", "TensorListStack", {"w:1", "any"}, type) + Library({body, cond}));
  const Program program = Lowered(graph, {{"x", DataType::kFloat, Shape({2}), {}}}, {"s"});
  ASSERT_FALSE(program.results.empty());
  EXPECT_EQ(program.results[0].shape, Shape({3, 2}));
  EXPECT_THAT(program.text, HasSubstr("stablehlo.dynamic_update_slice"));
  EXPECT_THAT(program.text, HasSubstr(": tensor<i32>, tensor<3x2xf32>, tensor<i32>\n"));
}

TEST(StableHlo, FindsShapesThatAreComputed) {
  const Graph graph =
      Parse(Placeholder("x", "dim { size: -1 } dim { size: 6 }") +
            testing::Op("s", "Shape", {"x"}, testing::Type("T", "DT_FLOAT")) +
            Const("two", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: [2, 3]") +
            testing::Op("d", "FloorDiv", {"s", "two"}, testing::Type("T", "DT_INT32")) +
            Const("six", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 6") +
            Const("zero", "DT_INT32", "tensor_shape { } int_val: 0") +
            testing::Op("j", "ConcatV2", {"d", "six", "zero"},
                        "attr { key: 'N' value { i: 2 } }" + testing::Type("T", "DT_INT32") +
                            testing::Type("Tidx", "DT_INT32")) +
            testing::Op("y", "Reshape", {"x", "j"},
                        testing::Type("T", "DT_FLOAT") + testing::Type("Tshape", "DT_INT32")));
  const Program program = Lowered(graph, {{"x", DataType::kFloat, Shape({4, 6}), {}}}, {"y"});
  EXPECT_EQ(program.results[0].shape, Shape({2, 2, 6}));
  EXPECT_THAT(program.text, Not(HasSubstr("divide")));
}

TEST(StableHlo, SaysWhatMustBeKnown) {
  const Graph graph =
      Parse(Placeholder("x", "dim { size: 6 }") + Placeholder("s", "dim { size: 2 }", "DT_INT32") +
            testing::Op("y", "Reshape", {"x", "s"},
                        testing::Type("T", "DT_FLOAT") + testing::Type("Tshape", "DT_INT32")));
  std::vector<Feed> feeds = {{"x", DataType::kFloat, Shape({6}), {}},
                             {"s", DataType::kInt32, Shape({2}), {}}};
  const absl::Status status = LowerGraph(graph, feeds, {"y"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("depends on values, in op Reshape of node 'y'"));
  feeds[1].value = Tensor::Of<int32_t>(DataType::kInt32, {2, 3}, Shape({2}));
  const Program program = Lowered(graph, feeds, {"y"});
  EXPECT_EQ(program.parameters.size(), 1);
  EXPECT_EQ(program.results[0].shape, Shape({2, 3}));
}

TEST(StableHlo, RefusesWhatHasNoOrder) {
  Graph graph = Parse(Placeholder("x", "") + Node("a", "Neg", {"x"}) + Node("b", "Neg", {"a"}));
  graph.SetInput(graph.FindNode("a"), 0, {graph.FindNode("b"), 0});
  const absl::Status status = LowerGraph(graph, {}, {"b"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cycle"));
}

TEST(StableHlo, PrintsNumbersOfEachType) {
  EXPECT_EQ(Number(DataType::kFloat, 1.0), "1.0");
  EXPECT_EQ(Number(DataType::kFloat, 1e-12), "9.99999996e-13");
  EXPECT_EQ(Number(DataType::kFloat, 1e30), "1.00000002e+30");
  EXPECT_EQ(Number(DataType::kDouble, 1e300), "1.0000000000000001e+300");
  EXPECT_EQ(Number(DataType::kFloat, -INFINITY), "0xFF800000");
  EXPECT_EQ(Number(DataType::kDouble, INFINITY), "0x7FF0000000000000");
  EXPECT_EQ(Number(DataType::kBfloat16, INFINITY), "0x7F80");
  EXPECT_EQ(Number(DataType::kHalf, 1e9), "0x7C00");
  EXPECT_EQ(Number(DataType::kHalf, 0.1), "0.0999755859");
  EXPECT_EQ(Number(DataType::kUint8, int64_t{-1}), "255");
  EXPECT_EQ(Number(DataType::kBool, 1.0), "true");
  EXPECT_EQ(Number(DataType::kComplex64, 2.0), "(2.0, 0.0)");
  EXPECT_EQ(Dense(Tensor::Of<int32_t>(DataType::kInt32, {1, 2, 3, 256}, Shape({2, 2}))),
            "dense<\"0x01000000020000000300000000010000\">");
  EXPECT_EQ(Dense(Tensor::Of<uint8_t>(DataType::kBool, {1, 0, 0, 1}, Shape({2, 2}))),
            "dense<[[true, false], [false, true]]>");
  EXPECT_EQ(Dense(Tensor::Of<float>(DataType::kFloat, {}, Shape({0, 2}))), "dense<>");
}

class LoweredModel : public ::testing::TestWithParam<const char*> {};

// Each model as it stands in its file, with the shapes of its feeds and 2 for what is open.
TEST_P(LoweredModel, LowersWhole) {
  const std::string folder = absl::StrCat("tests/golden/models/", GetParam());
  absl::StatusOr<Graph> graph = LoadGraph(folder + "/graph.pb.xz");
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<Feed> feeds;
  std::vector<std::string> fetches;
  std::vector<bool> read(graph->num_node_ids());
  for (NodeId n = 0; n < graph->num_node_ids(); ++n) {
    for (const Output in : graph->inputs(n)) read[in.node] = true;
  }
  for (NodeId n = 0; n < graph->num_node_ids(); ++n) {
    const std::string name(graph->name(n));
    if (graph->op_name(n) == "Placeholder") {
      Shape shape;
      const PartialShape known = graph->attr(n, "shape")->AsShape().value();
      for (const int64_t dim : known.dims()) shape.push_back(dim < 0 ? 2 : dim);
      feeds.push_back({name, graph->output_type({n, 0}), shape, {}});
    } else if (!read[n] && graph->num_outputs(n) > 0) {
      fetches.push_back(name);
    }
  }
  const Program program = Lowered(*graph, feeds, fetches);
  EXPECT_GE(program.results.size(), fetches.size());
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(program.text, '\n')), program.line_nodes.size());
}

INSTANTIATE_TEST_SUITE_P(Golden, LoweredModel,
                         ::testing::Values("bert_tiny", "cnn_bn", "cnn_groups", "conv1d_audio",
                                           "dlrm", "einsum_attention", "functions", "gpt_tiny",
                                           "gru_unrolled", "lstm_keras", "mlp", "mobilenet_v2",
                                           "resnet50", "two_devices"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon::stablehlo
