// What commands tell of graphs and of the bodies of their functions.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/commands/computed_graph.h"
#include "executor/cli/graphs/copies.h"
#include "executor/cli/graphs/explain_node.h"
#include "executor/cli/graphs/initializer.h"
#include "executor/cli/graphs/named_nodes.h"
#include "executor/cli/graphs/trace_notes.h"
#include "executor/cli/graphs/training.h"
#include "executor/cli/model/model.h"
#include "executor/cli/model/rank_limit.h"
#include "executor/cli/passes/html_report.h"
#include "graph/base/file_bytes.h"
#include "graph/functions/function_body.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/folder_test.h"

namespace tenon::cli {
namespace {

using namespace tenon::testing;  // NOLINT: names of nodes in texts
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NamedNodes, HaveTheOrderOfTheGraph) {
  std::vector<std::string> args, names = {"x"}, results, returns;
  for (char c = 'a'; c <= 'p'; ++c) args.emplace_back(1, c);
  std::string rets;
  for (const std::string& arg : args) {
    results.push_back("r" + arg);
    rets += Ret("r" + arg, arg);
  }
  const Graph graph = Parse(Placeholder("x", "dim { size: 2 }") +
                            Library({Function("f", args, results, "", rets)}));
  for (const std::string& arg : args) names.push_back("f:" + arg);
  for (const std::string& result : results) names.push_back("f:" + result + "/result");
  EXPECT_EQ(NamedNodes(graph).All(), names);
}

// An attribute of an earlier optimization.
constexpr char kOldOrigins[] = "attr { key: '_tenon_origins' value { list { s: 'gone' } } }";
constexpr char kOldRewrites[] = "attr { key: '_tenon_rewrites' value { list { s: 'old at n' } } }";

TEST(WriteProvenance, LeavesNothingOfAnEarlierOptimization) {
  Graph graph = Parse(
      Placeholder("x", "dim { size: 2 }") +
      Node("n", "Neg", {"x"}, absl::StrCat(kOldOrigins, kOldRewrites)) + Call("c", "f", {"n"}) +
      Library(
          {Function("f", {"a"}, {"r"}, Node("m", "Neg", {"a"}, kOldOrigins), Ret("r", "m:y:0"))}));
  WriteProvenance(Provenance(), graph);
  EXPECT_EQ(graph.attr(graph.FindNode("n"), "_tenon_origins"), nullptr);
  EXPECT_EQ(graph.attr(graph.FindNode("n"), "_tenon_rewrites"), nullptr);
  const FunctionBody body = ParseFunctionBody(graph, *graph.FindFunction("f"));
  ASSERT_EQ(body.nodes.size(), 1u);
  for (const Attr& attr : body.nodes[0].attrs().all()) EXPECT_NE(attr.name, "_tenon_origins");
}

// The attributes of a node that tell of the trace of a function.
std::string Traced(const std::string& function) {
  return absl::StrCat("attr { key: '_tenon_trace_why' value { s: 'the first call' } } ",
                      "attr { key: '_tenon_trace_function' value { s: '", function, "' } }");
}

TEST(TraceNotes, AreThoseOfWhatIsFetched) {
  const auto function = [](const std::string& name, const std::string& more) {
    return Function(name, {"a"}, {"r"}, Node("m", "Neg", {"a"}, Traced(name)) + more,
                    Ret("r", "m:y:0"));
  };
  const Graph graph = Parse(
      Placeholder("x", "dim { size: 2 }") + Call("c", "serve", {"x"}) + Call("d", "train", {"x"}) +
      Node("n", "Neg", {"d"}, Traced("the graph")) +
      Library({function("serve", ""), function("train", Call("h", "helper", {"m:y:0"})),
               function("helper", Call("again", "train", {"m:y:0"})), function("unused", "")}));
  const auto names = [&](const std::vector<std::string>& fetches) {
    std::vector<std::string> functions;
    for (const TraceNote& note : TraceNotesOf(graph, fetches)) functions.push_back(note.function);
    return functions;
  };
  EXPECT_THAT(names({}), ElementsAre("the graph", "serve", "train", "helper", "unused"));
  EXPECT_THAT(names({"c:0"}), ElementsAre("serve"));
  EXPECT_THAT(names({"d"}), ElementsAre("train", "helper"));
  EXPECT_THAT(names({"n:0", "c"}), ElementsAre("the graph", "serve", "train", "helper"));
  EXPECT_THAT(names({"nowhere"}), ElementsAre());
}

const std::string kDtype = Type("dtype", "DT_FLOAT");

// A node that assigns something.
std::string Assign(std::string_view name, std::string_view variable) {
  return Op(name, "Assign", {std::string(variable), "one"}, Type("T", "DT_FLOAT"));
}

// What is run at last, after these nodes.
std::string After(std::string_view name, std::vector<std::string> nodes) {
  for (std::string& node : nodes) node.insert(0, "^");
  return Op(name, "NoOp", nodes);
}

TEST(Initializer, AssignsTheVariablesAndNoOtherNodes) {
  const std::string shape = "attr { key: 'shape' value { shape {} } }";
  const std::string nodes = Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
                            Op("v", "VariableV2", {}, kDtype + shape) +
                            Op("w", "VariableV2", {}, kDtype + shape) +
                            Op("t", "TemporaryVariable", {}, kDtype + shape) +
                            Assign("set_v", "v") + Assign("set_w", "w") + Assign("set_t", "t");
  EXPECT_EQ(Initializer(Parse(nodes + After("half", {"set_v", "set_t"}))), "");
  EXPECT_EQ(Initializer(Parse(nodes + After("half", {"set_v", "set_t"}) +
                              After("init", {"set_v", "set_w"}))),
            "init");
  const std::string add = Op("add_v", "AssignAdd", {"v", "one"}, Type("T", "DT_FLOAT"));
  EXPECT_EQ(Initializer(Parse(nodes + add + After("train", {"set_v", "set_w", "add_v"}))), "");
}

// One target fills variables and tables, or each has a target of its own.
TEST(Initializers, FillVariablesAndTables) {
  const std::string table =
      Op("table", "HashTableV2", {},
         Type("key_dtype", "DT_FLOAT") + Type("value_dtype", "DT_FLOAT")) +
      Const("key", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 1") +
      Op("fill", "InitializeTableV2", {"table", "key", "key"},
         Type("Tkey", "DT_FLOAT") + Type("Tval", "DT_FLOAT"));
  const std::string variable =
      Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
      Op("v", "VariableV2", {}, kDtype + "attr { key: 'shape' value { shape {} } }") +
      Assign("set_v", "v");
  EXPECT_THAT(Initializers(Parse(variable)), ElementsAre());
  EXPECT_THAT(Initializers(Parse(table)), ElementsAre("fill"));
  EXPECT_THAT(Initializers(Parse(table + After("tables", {"fill"}))), ElementsAre("tables"));
  EXPECT_THAT(Initializers(Parse(table + variable + After("init", {"set_v"}))),
              ElementsAre("init", "fill"));
  EXPECT_THAT(Initializers(Parse(table + variable + After("init", {"set_v"}) +
                                 After("init_state", {"set_v", "fill"}))),
              ElementsAre("init_state"));
}

// What is computed from a Placeholder is a result; gradients, summaries, what is behind a step, and
// what is made of variables alone are not.
TEST(ResultsOfTraining, AreWhatPlaceholdersGive) {
  const std::string t = Type("T", "DT_FLOAT");
  const std::string model =
      Placeholder("x", "") + Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
      Op("v", "VariableV2", {}, kDtype + "attr { key: 'shape' value { shape {} } }") +
      Assign("set_v", "v") + Op("v/read", "Identity", {"v"}, t) +
      Op("unused/read", "Identity", {"v"}, t) + Op("y", "Mul", {"x", "v/read"}, t) +
      Op("loss", "Square", {"y"}, t) + Op("train/gradients_1/Mul_grad", "Mul", {"x", "loss"}, t) +
      Op("clipped", "Minimum", {"train/gradients_1/Mul_grad", "one"}, t) +
      Op("step", "AssignSub", {"v", "clipped"}, t) +
      Op("loss/behind_step", "Identity", {"loss", "^step"}, t) +
      Op("summary", "ScalarSummary", {"tag", "loss"}, t) +
      Const("tag", "DT_STRING", "tensor_shape {} string_val: 'loss'");
  const auto outputs = [](const std::string& nodes) {
    std::vector<std::string> names;
    const Graph graph = Parse(nodes);
    const std::vector<bool> results = ResultsOfTraining(graph);
    for (size_t n = 0; n < results.size(); ++n) {
      if (results[n]) names.emplace_back(graph.name(static_cast<NodeId>(n)));
    }
    return names;
  };
  const std::string average =
      Op("mean", "VariableV2", {}, kDtype + "attr { key: 'shape' value { shape {} } }") +
      Assign("set_mean", "mean") + Op("mean/distance", "Sub", {"mean", "y"}, t) +
      Op("mean/step", "Mul", {"mean/distance", "one"}, t) +
      Op("mean/AssignMovingAvg", "AssignSub", {"mean", "mean/step"}, t);
  const std::string leftovers = Op("cond/pred_id", "Identity", {"x"}, t) +
                                Op("assert_broadcastable/values/shape", "Shape", {"y"}, t);
  EXPECT_THAT(outputs(model), ElementsAre()) << "nothing initializes it";
  EXPECT_THAT(outputs(model + average + leftovers + After("init", {"set_v", "set_mean"})),
              ElementsAre("y", "loss"));
  EXPECT_THAT(outputs(model + After("init", {"set_v"})), ElementsAre("y", "loss"));
}

TEST(CopiesInto, LeaveOutInputsThatNameNoNode) {
  const auto imported = ImportBytes(Node("n", "Neg", {"nowhere"}), "test.pbtxt");
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Graph& graph = imported->graph;
  const NodeId n = graph.FindNode("n");
  ASSERT_EQ(graph.data_inputs(n)[0].node, kNoNode);
  const auto copies =
      CopiesInto(graph, std::vector<NodePlacement>(static_cast<size_t>(graph.num_node_ids())));
  EXPECT_TRUE(copies[static_cast<size_t>(n)].empty());
}

// The estimate of a graph and of what it calls.
FlopEstimate EstimateOf(const std::string& text) {
  const Graph graph = Parse(text);
  const auto shapes = GraphShapes::Infer(graph);
  EXPECT_TRUE(shapes.ok()) << shapes.status();
  return shapes.ok() ? EstimateFlopsWithBodies(graph, *shapes) : FlopEstimate();
}

TEST(SummarizeVariables, CountsAVariableOfTwoNodesOnce) {
  Model model;
  const std::string read = Type("dtype", "DT_FLOAT");
  model.graph =
      Parse(VarHandle("v", "shared") + VarHandle("w", "shared") + VarHandle("u", "other") +
            Op("a", "ReadVariableOp", {"v"}, read) + Op("b", "ReadVariableOp", {"w"}, read) +
            Op("c", "ReadVariableOp", {"u"}, read));
  Signature signature;
  for (const char* name : {"a", "b", "c"})
    signature.outputs.push_back({.name = name, .tensor = absl::StrCat(name, ":0")});
  model.saved.emplace().meta_graphs.emplace_back().signatures.push_back(signature);
  const VariableSummary summary = SummarizeVariables(model);
  EXPECT_EQ(summary.count, 2);
  EXPECT_EQ(summary.bytes, 4 * summary.parameters);
}

TEST(EstimateFlops, SaysOfWhichBodiesItKnowsNoCost) {
  const auto model = [](std::string_view shape) {
    return Placeholder("x", shape) + Call("c", "f", {"x"}) +
           Library({Function("f", {"a"}, {"r"}, Node("m", "MatMul", {"a", "a"}),
                             Ret("r", "m:product:0"))});
  };
  const FlopEstimate known = EstimateOf(model("dim { size: 2 } dim { size: 2 }"));
  EXPECT_EQ(known.unknown_nodes, 1) << "the call: its result has no shape here";
  EXPECT_EQ(known.flops, 16);
  // The product of these has no shape.
  EXPECT_GT(EstimateOf(model("dim { size: 2 } dim { size: 3 }")).unknown_nodes, 1);
}

TEST(EstimateFlops, TakesNoLimitOfARangeForAnArgumentOfTheBody) {
  const FlopEstimate estimate = EstimateOf(
      Placeholder("x", "dim { size: 2 }") + Const("i", "DT_INT32", "int_val: 3") +
      Node("loop", "For", {"i", "i", "i", "x"},
           "attr { key: 'T' value { list { type: DT_FLOAT } } }"
           "attr { key: 'body' value { func { name: 'f' } } }") +
      Library({Function("f", {"number", "a"}, {"r"}, Node("m", "Neg", {"a"}), Ret("r", "m:y:0"))}));
  EXPECT_EQ(estimate.unknown_nodes, 2) << "the loop, and the Neg of an argument of unknown shape";
}

TEST(EstimateFlops, SaysThatThereAreTooManyBodies) {
  std::vector<std::string> functions;
  for (int i = 0; i < 14; ++i) {
    const std::string next = absl::StrCat("f", i + 1);
    functions.push_back(Function(absl::StrCat("f", i), {"a"}, {"r"},
                                 Call("c", next, {"a"}) + Call("d", next, {"c:output:0"}),
                                 Ret("r", "d:output:0")));
  }
  functions.push_back(Function("f14", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0")));
  const FlopEstimate estimate =
      EstimateOf(Placeholder("x", "dim { size: 2 }") + Call("c", "f0", {"x"}) + Library(functions));
  // 20,001 calls, and of what they call the 10,001 bodies beyond the first 10,000.
  EXPECT_EQ(estimate.unknown_nodes, 30'002);
}

TEST(MaxRank, HoldsForListsAndForBodies) {
  const std::string shapes =
      "list { shape { unknown_rank: true } shape { dim { size: 1 } "
      "dim { size: 1 } dim { size: 1 } } }";
  const std::string attr = absl::StrCat("attr { key: '_shapes' value { ", shapes, " } }");
  Imported imported{Parse(Placeholder("x", "dim { size: 2 }") + Node("n", "Neg", {"x"}, attr) +
                          Library({Function("f", {"a"}, {"r"}, Node("m", "Neg", {"a"}, attr),
                                            Ret("r", "m:y:0"))})),
                    {}};
  AddRankDefects(3, imported);
  EXPECT_TRUE(imported.defects.empty());
  AddRankDefects(2, imported);
  ASSERT_EQ(imported.defects.size(), 2u);
  EXPECT_EQ(imported.defects[0].message,
            "attribute '_shapes' of node 'n' (Neg) has rank 3; --max-rank allows 2");
  EXPECT_FALSE(imported.defects[0].in_function);
  EXPECT_EQ(imported.defects[1].message,
            "function 'f': attribute '_shapes' of node 'm' (Neg) has rank 3; --max-rank allows 2");
  EXPECT_TRUE(imported.defects[1].in_function);
}

// Graphs of old producers write [] where they do not know the shape.
TEST(DeclaredInput, IsUnknownWhereAnOldGraphSaysScalar) {
  const auto declared = [](int producer, const std::string& op) {
    const Graph graph = Parse(
        Op("x", op, {}, Type("dtype", "DT_FLOAT") + "attr { key: 'shape' value { shape { } } }") +
        absl::StrCat("versions { producer: ", producer, " }"));
    return DeclaredInput(graph, graph.FindNode("x")).shape;
  };
  EXPECT_FALSE(declared(21, "Placeholder").known_rank());
  EXPECT_EQ(declared(22, "Placeholder"), PartialShape(Shape()));
  EXPECT_EQ(declared(21, "PlaceholderV2"), PartialShape(Shape()));
}

class HtmlReport : public FolderTest {
 protected:
  // The page of two graphs.
  std::string PageOf(const Graph& before, const Graph& after) const {
    PassHistory history;
    const PipelineReport report;
    const Provenance provenance;
    const absl::Status written =
        WriteHtmlReport(Path("page.html"), {"model", before, after, report, history, provenance});
    EXPECT_TRUE(written.ok()) << written;
    const auto file = ReadFile(Path("page.html"), size_t{1} << 28);
    return file.ok() ? std::string(file->bytes) : std::string();
  }
};

TEST_F(HtmlReport, SaysWhichGraphItShowsInPart) {
  const std::string body =
      Library({Function("f", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0"))});
  std::string many;
  for (int i = 0; i < 19'999; ++i) absl::StrAppend(&many, Op(absl::StrCat("n", i), "NoOp", {}));
  const std::string page = PageOf(Parse(Op("n", "NoOp", {}) + body), Parse(many + body));
  const size_t after = page.find(",\"after\":{\"count\":19999,");
  ASSERT_NE(after, page.npos);
  EXPECT_THAT(page.substr(0, after), HasSubstr("\"complete\":true"));
  EXPECT_THAT(page.substr(after), HasSubstr("\"complete\":false"));
}

}  // namespace
}  // namespace tenon::cli
