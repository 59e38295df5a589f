// show, explain, devices, check: what they say of graphs.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The outputs of a graph are what every run computes once: not what one branch or one pass does.
TEST(Show, OutputsOfBranchesAndLoops) {
  const auto node = [](const std::string& name, const std::string& op,
                       const std::vector<std::string>& inputs, const std::string& attrs) {
    std::string text = "node { name: '" + name + "' op: '" + op + "' ";
    for (const std::string& input : inputs) text += "input: '" + input + "' ";
    return text + attrs + "}\n";
  };
  const auto type = [](const std::string& name, const std::string& of) {
    return "attr { key: '" + name + "' value { type: DT_" + of + " } } ";
  };
  const std::string t = type("T", "FLOAT"), n2 = "attr { key: 'N' value { i: 2 } } ";
  const auto loop = [&](const std::string& name, const std::string& from) {
    const std::string frame = "attr { key: 'frame_name' value { s: '" + name + "' } } ";
    return node(name + "/enter", "Enter", {from}, t + frame) +
           node(name + "/merge", "Merge", {name + "/enter", name + "/next"}, t + n2) +
           node(name + "/less", "Less", {name + "/merge", "limit"}, t) +
           node(name + "/again", "LoopCond", {name + "/less"}, "") +
           node(name + "/switch", "Switch", {name + "/merge", name + "/again"}, t) +
           node(name + "/pass", "Square", {name + "/switch:1"}, t) +
           node(name + "/next", "NextIteration", {name + "/pass"}, t) +
           node(name + "/exit", "Exit", {name + "/switch"}, t);
  };
  const std::string graph = node("x", "Placeholder", {}, type("dtype", "FLOAT")) +
                            node("limit", "Placeholder", {}, type("dtype", "FLOAT")) +
                            node("p", "Placeholder", {}, type("dtype", "BOOL")) +
                            node("sw", "Switch", {"x", "p"}, t) + node("no", "Neg", {"sw"}, t) +
                            node("yes", "Abs", {"sw:1"}, t) + node("unused", "Exp", {"sw:1"}, t) +
                            node("chosen", "Merge", {"no", "yes"}, t + n2) +
                            loop("outer", "chosen") + loop("inner", "outer/switch:1");
  const json doc = Document({"show", TempFile("loops.pbtxt", graph)});
  std::vector<std::string> outputs;
  for (const json& output : doc["outputs"]) outputs.push_back(output["name"]);
  EXPECT_THAT(outputs, ElementsAre("outer/exit"));
}

// What a node of an unknown op gives nobody knows; no command line asks for it.
TEST(Show, OutputsOfUnknownOps) {
  const std::string model = TempFile("unknown_output.pbtxt", R"(
      node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "a" op: "NoSuchOp" input: "p" }
      node { name: "b" op: "Relu" input: "p" attr { key: "T" value { type: DT_FLOAT } } })");
  const json doc = Document({"show", model});
  ASSERT_EQ(doc["outputs"].size(), 2);
  EXPECT_EQ(doc["outputs"][0]["name"], "a");
  EXPECT_TRUE(doc["outputs"][0]["dtype"].is_null());
  EXPECT_EQ(doc["outputs"][1]["dtype"], "f32");
  EXPECT_EQ(doc["ops"]["NoSuchOp"], 1);
  const std::string run = doc["commands"][0];
  EXPECT_THAT(run, ::testing::EndsWith(" --output b"));
  const Finished text = GraphRun({"show", model});
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("outputs    a  of an unknown op"));
}

TEST(Show, DocumentAndReadyCommands) {
  const json doc = Document({"show", kMlp});
  EXPECT_EQ(doc["inputs"], json::parse(R"([{"name":"x","dtype":"f32","shape":[-1,20]}])"));
  EXPECT_EQ(doc["outputs"], json::parse(R"([{"name":"out","dtype":"f32","shape":[-1,10]}])"));
  EXPECT_EQ(doc["ops"]["MatMul"], 3);
  EXPECT_EQ(doc["nodes"], 23);
  EXPECT_EQ(doc["functions"], 0);
  EXPECT_GT(doc["const_bytes"], 20000);
  EXPECT_GT(doc["flops"], 10000);
}

// The printed command lines run as they are.
TEST(Show, CommandsWork) {
  for (const char* model : {"mlp", "bert_tiny", "dlrm", "grappler_food"}) {
    const json doc = Document({"show", GoldenGraph(model)});
    std::istringstream words(doc["commands"][0].get<std::string>());
    std::vector<std::string> args;
    for (std::string word; words >> word;) {
      std::erase(word, '\'');
      args.push_back(word);
    }
    args.erase(args.begin());
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 0) << model << ": " << run.err;
  }
}

TEST(Explain, SaysWhyFloatsStay) {
  for (const auto& [precision, coded] :
       {std::pair("w4", 2), std::pair("bf16", 0), std::pair("int8", 0)}) {
    const json doc = Document({"explain", kMlp, "--precision", precision});
    int stay = 0, products = 0;
    for (const json& node : doc["nodes"]) {
      products += node["op"] == "_TenonCodedMatMul" ? 1 : 0;
      stay += node.contains("stays_f32") ? 1 : 0;
      if (node["op"] == "_FusedMatMul" && coded > 0)
        EXPECT_EQ(node["stays_f32"], "its weights are only 640") << node;
    }
    EXPECT_GT(stay, 0);
    EXPECT_EQ(products, coded);
    EXPECT_THAT(GraphRun({"explain", kMlp, "--precision", precision}).out, HasSubstr("stays f32"));
  }
  EXPECT_THAT(GraphRun({"explain", kMlp}).out, Not(HasSubstr("stays f32")));
}

// Nodes that a plug-in's pass rewrote are reasoned about anew, and every reason has its detail.
TEST(Explain, ReasonsAfterAPluginsPass) {
  const json doc = Document({"explain", kMlp, "--plugin", Built("lib/plugins/libapu.so")});
  int fused = 0, greedy = 0;
  for (const json& node : doc["nodes"]) {
    for (const json& rejected : node["rejected"]) EXPECT_NE(rejected["detail"], "") << node;
    if (node["op"] == "Const" || node["op"] == "Placeholder") {
      EXPECT_EQ(node["reason"], "GREEDY") << node;
      ++greedy;
    }
    if (node["op"] != "ApuBiasRelu") continue;
    ++fused;
    EXPECT_EQ(node["reason"], "PRIORITY");
    EXPECT_EQ(node["rejected"][0]["code"], "NO_KERNEL") << node;
  }
  EXPECT_EQ(fused, 2);
  EXPECT_GT(greedy, 0);
}

// What TensorFlow 1 trains: a variable, its first value, a step, and the names of both.
TEST(Show, GraphsThatTrain) {
  const std::string graph = TempFile("train.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'w' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'first' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 3
                    tensor_shape { dim { size: 2 } } } } } }
      node { name: 'w/Assign' op: 'Assign' input: ['w', 'first']
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'w/read' op: 'Identity' input: 'w' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'y' op: 'Mul' input: ['x', 'w/read'] attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'step' op: 'AssignSub' input: ['w', 'x']
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'gradients/Shape' op: 'Shape' input: 'y' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'train' op: 'NoOp' input: '^step' }
      node { name: 'init' op: 'NoOp' input: '^w/Assign' })");
  const json doc = Document({"show", graph});
  EXPECT_EQ(doc["targets"], json({"train", "init"}));
  EXPECT_EQ(doc["variables"][0]["name"], "w");
  EXPECT_EQ(doc["init"], "init");
  ASSERT_EQ(doc["outputs"].size(), 1) << doc["outputs"];
  EXPECT_EQ(doc["outputs"][0]["name"], "y");
  const std::string line = doc["commands"][0];
  EXPECT_THAT(line, HasSubstr(" --init init "));
  EXPECT_THAT(line, Not(HasSubstr("--output")));
  const Finished run = GraphRun({"run", graph, "--init", "init", "--input", "x=2xf32=2", "--output",
                                 "y", "--expect", "y=2xf32=6"});
  EXPECT_EQ(run.exit, 0) << run.err;
  // A run without --output trains nothing.
  const json all =
      Document({"run", graph, "--init", "init", "--input", "x=2xf32=2", "--session-runs", "2"});
  EXPECT_EQ(all["runs"][1]["fetches"].size(), 1) << all;
  EXPECT_EQ(all["runs"][1]["fetches"][0]["values"], json({6, 6}));
  const Finished early = GraphRun({"run", graph, "--input", "x=2xf32=2", "--output", "y"});
  EXPECT_EQ(early.exit, 1);
  EXPECT_THAT(early.err, HasSubstr("; --init init gives variables and tables their first values"));
  const Finished text = GraphRun({"show", graph});
  EXPECT_THAT(text.out, HasSubstr("targets    train, init\nvariables  w  f32[2]\n"));
}

// A place goes with its node through calls and into what the node becomes.
TEST(Explain, SaysWhereTheProgramMadeNodes) {
  const std::string graph = TempFile("places.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'call' op: 'PartitionedCall' input: 'x'
             attr { key: 'Tin' value { list { type: DT_FLOAT } } }
             attr { key: 'Tout' value { list { type: DT_FLOAT } } }
             attr { key: 'f' value { func { name: 'inner' } } }
             experimental_debug_info { original_func_names: 'train.cc:7' } }
      node { name: 'y' op: 'Sinh' input: 'call' attr { key: 'T' value { type: DT_FLOAT } }
             experimental_debug_info { original_func_names: 'train.cc:8' } }
      library { function {
        signature { name: 'inner' input_arg { name: 'a' type: DT_FLOAT }
                    output_arg { name: 'r' type: DT_FLOAT } }
        node_def { name: 'cosh' op: 'Cosh' input: 'a' attr { key: 'T' value { type: DT_FLOAT } }
                   experimental_debug_info { original_func_names: 'layer.cc:3' } }
        ret { key: 'r' value: 'cosh:y:0' } } })");
  const json doc = Document({"explain", graph});
  std::map<std::string, json> places;
  for (const json& node : doc["nodes"]) places[node["op"]] = node["places"];
  EXPECT_EQ(places["Cosh"], json({"layer.cc:3"}));
  EXPECT_EQ(places["Sinh"], json({"train.cc:8"}));
  EXPECT_EQ(places["Placeholder"], json::array());
  const Finished text = GraphRun({"explain", graph});
  EXPECT_THAT(text.out, HasSubstr("made at"));
  EXPECT_THAT(text.out, HasSubstr("layer.cc:3"));
  const std::string trace = TempPath("places.json");
  const Finished run =
      GraphRun({"run", graph, "--input", "x=2xf32=1", "--output", "y", "--trace", trace});
  EXPECT_EQ(run.exit, 0) << run.err;
  std::map<std::string, json> slices;
  const json events = json::parse(ReadFile(trace));
  for (const json& event : events["traceEvents"]) {
    if (event.contains("args") && event["args"].contains("op"))
      slices[event["args"]["op"]] = event["args"].value("place", json());
  }
  EXPECT_EQ(slices["Cosh"], "layer.cc:3");
  EXPECT_EQ(slices["Sinh"], "train.cc:8");
  // A graph that says no places has no column for them.
  EXPECT_THAT(GraphRun({"explain", kMlp}).out, Not(HasSubstr("made at")));
}

TEST(Explain, SaysWhatAGraphTellsOfItsTraces) {
  const std::string graph = TempFile("traced.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
      node { name: 'output_0' op: 'PartitionedCall' input: 'x'
             attr { key: 'Tin' value { list { type: DT_FLOAT } } }
             attr { key: 'Tout' value { list { type: DT_FLOAT } } }
             attr { key: 'f' value { func { name: 'inner' } } }
             attr { key: '_tenon_trace_function' value { s: 'step, trace 2' } }
             attr { key: '_tenon_trace_why' value { s: 'the shape changed' } }
             attr { key: '_tenon_trace_takes' value { list { s: 'float32(2,)' } } }
             attr { key: '_tenon_trace_captures' value { list { s: 'variable w, 4 bytes' } } }
             attr { key: '_tenon_trace_control_edges' value { list { s: 'b waits for a' } } }
             attr { key: '_tenon_trace_ops' value { i: 7 } }
             attr { key: '_tenon_trace_path' value { i: 5 } }
             attr { key: '_tenon_trace_path_without_edges' value { i: 3 } } }
      library { function {
        signature { name: 'inner' input_arg { name: 'a' type: DT_FLOAT }
                    output_arg { name: 'r' type: DT_FLOAT } }
        node_def { name: 'cosh' op: 'Cosh' input: 'a' attr { key: 'T' value { type: DT_FLOAT } }
                   attr { key: '_tenon_trace_why' value { s: 'the first call' } }
                   attr { key: '_tenon_trace_function' value { s: 'inner, trace 1' } }
                   attr { key: '_tenon_trace_takes' value { i: 3 } } }
        ret { key: 'r' value: 'cosh:y:0' } } })");
  const json doc = Document({"explain", graph});
  ASSERT_EQ(doc["traces"].size(), 2u);
  EXPECT_EQ(doc["traces"][0]["function"], "step, trace 2");
  EXPECT_EQ(doc["traces"][0]["captures"], json({"variable w, 4 bytes"}));
  EXPECT_EQ(doc["traces"][0]["path_without_edges"], 3);
  EXPECT_EQ(doc["traces"][1]["why"], "the first call");
  EXPECT_EQ(doc["traces"][1]["takes"], json::array()) << "a list that is none";
  const Finished text = GraphRun({"explain", graph});
  EXPECT_THAT(text.out, HasSubstr("step, trace 2: because the shape changed\n"
                                  "  takes float32(2,)\n"
                                  "  7 ops, 0 constants, 1 control edge for side effects\n"
                                  "  captures variable w, 4 bytes\n"
                                  "  control edge: b waits for a\n"
                                  "  the longest path has 5 ops, without these edges 3\n"
                                  "inner, trace 1: because the first call\n"));
  EXPECT_FALSE(Document({"explain", kMlp}).contains("traces"));
}

TEST(Explain, SaysWhyEachNodeIsWhereItIs) {
  const json doc =
      Document({"explain", kMlp, "--plugin", Built("lib/plugins/libapu.so"), "--opt-level", "0"});
  const auto relu = std::find_if(doc["nodes"].begin(), doc["nodes"].end(),
                                 [](const json& n) { return n["op"] == "Relu"; });
  ASSERT_NE(relu, doc["nodes"].end());
  EXPECT_EQ((*relu)["device"], "/device:APU:0");
  EXPECT_EQ((*relu)["reason"], "PRIORITY");
  ASSERT_EQ((*relu)["copies"].size(), 1);
  EXPECT_EQ((*relu)["copies"][0]["from"], "/device:CPU:0");
  EXPECT_EQ((*relu)["copies"][0]["to"], "/device:APU:0");
  const auto matmul = std::find_if(doc["nodes"].begin(), doc["nodes"].end(),
                                   [](const json& n) { return n["op"] == "MatMul"; });
  EXPECT_EQ((*matmul)["rejected"][0]["code"], "NO_KERNEL");
}

// A few numbers go to the device and back for nothing, unless the pass is asked for.
TEST(Explain, SmallNumbersMoveToTheHost) {
  const std::string model = TempFile("small.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 4 } } } } }
      node { name: 'a' op: 'Exp' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'b' op: 'Relu' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'c' op: 'Relu' input: 'x' device: '/device:APU:0'
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'd' op: 'Sub' input: ['b', 'c'] attr { key: 'T' value { type: DT_FLOAT } } })");
  const std::string apu = Built("lib/plugins/libapu.so");
  const auto device_of = [&](std::string_view node, std::vector<std::string> more) {
    std::vector<std::string> args = {"explain", model, "--plugin", apu};
    args.insert(args.end(), more.begin(), more.end());
    const json doc = Document(args);
    for (const json& row : doc["nodes"]) {
      if (row["name"] == node)
        return row["device"].get<std::string>() + " " + row["reason"].get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(device_of("b", {"--passes", "model_pruning"}), "/device:APU:0 PRIORITY");
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"--passes", "pin_to_host_optimization"},
        {"--config", "pin_to_host_optimization: ON"}}) {
    EXPECT_EQ(device_of("b", asked), "/device:CPU:0 PASS_MOVED") << asked[0];
    EXPECT_EQ(device_of("c", asked), "/device:APU:0 PINNED") << asked[0];
  }
  const json run =
      Document({"run", model, "--plugin", apu, "--passes", "pin_to_host_optimization",
                "--verify-each=numeric", "--input", "x=4xf32=0", "--expect", "d=4xf32=1"});
  EXPECT_EQ(run["devices"]["/device:APU:0"], 1);
}

TEST(Check, ADeviceWithoutTheKernelHasNotImplementedIt) {
  for (const char* how : {"--no-fallback", "--soft-placement=off"}) {
    const json doc = Document({"check", "tests/golden/ops", "--ops", "Abs", "--plugin",
                               Built("lib/plugins/libapu.so"), "--device", "APU", how});
    EXPECT_EQ(doc["summary"]["failed"], 0) << how;
    EXPECT_GT(doc["summary"]["unimplemented"], 0) << how;
  }
}

// An element that is not there, and an Add behind it, as a case that expects an error. `add` is the
// Add's other input; `error` are attributes of the error node.
std::string ErrorCase(std::string_view add, std::string_view error) {
  const auto ints = [](std::string_view name, int value) {
    return absl::StrCat("node { name: 'c0/", name,
                        "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: "
                        "'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: ",
                        value, " } } } }");
  };
  return absl::StrCat(
      "node { name: 'c0/x' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
      "'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 } } "
      "} }",
      ints("five", 5), ints("axis", 0),
      "node { name: 'c0/gather' op: 'GatherV2' input: 'c0/x' input: 'c0/five' input: 'c0/axis' "
      "attr { "
      "key: 'Tparams' value { type: DT_FLOAT } } attr { key: 'Tindices' value { type: DT_INT32 } } "
      "attr { key: 'Taxis' value { type: DT_INT32 } } } node { name: 'c0/op' op: 'AddV2' input: "
      "'c0/gather' input: '",
      add,
      "' attr { key: 'T' value { type: DT_FLOAT } } } node { name: 'c0/error' op: 'NoOp' attr { "
      "key: 'code' value { s: 'INVALID_ARGUMENT' } } ",
      error, " }");
}

std::string MessageOf(std::string_view node) {
  return absl::StrCat("attr { key: 'message' value { s: 'no good for {{node ", node, "}}' } }");
}

// The case's detail; empty if it passes.
std::string DetailOf(const std::string& text) {
  const Finished run = GraphRun({"check", TempFile("error_case.pbtxt", text), "--json"});
  const json c = json::parse(run.out)["cases"][0];
  EXPECT_EQ(c["status"] == "passed", c["detail"] == "") << run.out;
  return c["detail"];
}

TEST(Check, AnErrorOfAnotherNodeIsNotTheRightOne) {
  EXPECT_EQ(DetailOf(ErrorCase("c0/x", MessageOf("c0/gather"))), "");
  EXPECT_THAT(DetailOf(ErrorCase("c0/x", MessageOf("c0/op"))),
              AllOf(HasSubstr("node 'c0/gather' (GatherV2)"),
                    HasSubstr("where an error of node 'c0/op' (AddV2) is right")));
  // Nothing says which: the op under test.
  EXPECT_THAT(DetailOf(ErrorCase("c0/x", "")),
              HasSubstr("where an error of node 'c0/op' (AddV2) is right"));
}

// A case whose Reshape takes 6 elements and refuses to make 4 of them, and what is at fault in it
// besides; `wrong` is no type, so that T is wrong too.
std::string ReshapeCase(const std::string& op, const std::string& type, const std::string& after,
                        const std::string& message) {
  const auto attr = [](const std::string& key, const std::string& value) {
    return " attr { key: '" + key + "' value { " + value + " } }";
  };
  const auto constant = [&](const std::string& name, const std::string& dtype,
                            const std::string& values) {
    return "node { name: '" + name + "' op: 'Const'" + attr("dtype", "type: " + dtype) +
           attr("value", "tensor { dtype: " + dtype + " " + values + " }") + " } ";
  };
  return constant("c0/in0", "DT_FLOAT", "tensor_shape { dim { size: 6 } } float_val: 1") +
         constant("c0/in1", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 4") +
         "node { name: '" + op + "' op: 'Reshape' input: 'c0/in0' input: 'c0/in1'" +
         attr("T", "type: " + type) + attr("Tshape", "type: DT_INT32") + " } " + after +
         "node { name: 'c0/error' op: 'NoOp'" + attr("code", "s: 'INVALID_ARGUMENT'") +
         attr("message", "s: '" + message + "'") + attr("stage", "s: 'import'") + " } ";
}

TEST(Check, ADefectMustBeTheOneThatIsExpected) {
  const std::string right = "Cannot reshape for {{node c0/op}}";
  const std::string relu =
      "node { name: 'c0/op' op: 'Relu' input: 'c0/pre' attr { key: 'T' value { type: DT_FLOAT } } "
      "} ";
  EXPECT_EQ(DetailOf(ReshapeCase("c0/op", "DT_FLOAT", "", right)), "");
  EXPECT_EQ(DetailOf(ReshapeCase("c0/op", "DT_FLOAT", "", "Cannot reshape")), "");
  // Of the right node, and not what is said of it.
  EXPECT_THAT(DetailOf(ReshapeCase("c0/op", "DT_INT32", "", right)),
              HasSubstr("has type DT_FLOAT where DT_INT32 is expected where"));
  // Of another node than the op under test.
  EXPECT_THAT(DetailOf(ReshapeCase("c0/pre", "DT_FLOAT", relu, "Something about Relu")),
              HasSubstr("where an error of node 'c0/op' (Relu) is right"));
  // What names the attribute that is wrong is about it.
  const std::string depth =
      "node { name: 'c0/op' op: 'SpaceToDepth' input: 'c0/in0' attr { key: 'T' value { type: "
      "DT_FLOAT } } attr { key: 'block_size' value { i: 1 } } } ";
  const auto of_attribute = [&](const std::string& message) {
    const std::string text = ReshapeCase("c0/op", "DT_FLOAT", "", message);
    const size_t op = text.find("node { name: 'c0/op'"), end = text.find("node { name: 'c0/error'");
    return text.substr(0, op) + depth + text.substr(end);
  };
  EXPECT_EQ(DetailOf(of_attribute("Value for attr \\'block_size\\' of 1 must be at least 2")), "");
  EXPECT_THAT(DetailOf(of_attribute("Input must have rank 4")), HasSubstr("block_size"));
}

TEST(Check, ADefectOfAnotherNodeIsNotTheRightError) {
  EXPECT_THAT(DetailOf(ErrorCase("c0/five", MessageOf("c0/gather"))),
              AllOf(HasSubstr("node 'c0/op' (AddV2)"),
                    HasSubstr("where an error of node 'c0/gather' (GatherV2) is right")));
}

TEST(Check, FunctionsBranchesAndLoops) {
  for (const char* level : {"0", "1", "2"}) {
    const json doc = Document({"check", "tests/golden/control_flow", "--opt-level", level});
    EXPECT_GT(doc["summary"]["passed"], 200) << level;
    for (const char* bad : {"failed", "crashed", "unimplemented"})
      EXPECT_EQ(doc["summary"][bad], 0) << bad << " at level " << level;
  }
}

// Each unit of a graph as a task of its own, on more threads than the machine may have.
TEST(Check, NodesThatRunAtTheSameTime) {
  for (const char* folder : {"tests/golden/control_flow", "tests/golden/state"}) {
    const json doc = Document({"check", folder, "--inter-op", "always", "--threads", "5"});
    EXPECT_GT(doc["summary"]["passed"], 200) << folder;
    for (const char* bad : {"failed", "crashed", "unimplemented"})
      EXPECT_EQ(doc["summary"][bad], 0) << bad << " in " << folder;
  }
}

TEST(Run, ATraceOfTasksHasEachStepOnceAndSpansSideBySide) {
  std::string graph =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }";
  std::vector<std::string> args = {"run"};
  for (int i = 0; i < 12; ++i) {
    for (const std::string op : {"Cosh", "Sinh"}) {
      graph += absl::StrCat("node { name: '", op, i, "' op: '", op, "' input: '",
                            op == "Cosh" ? "x" : absl::StrCat("Cosh", i),
                            "' attr { key: 'T' value { type: DT_FLOAT } } }");
    }
    args.insert(args.end(), {"--output", absl::StrCat("Sinh", i)});
  }
  const std::string trace = TempPath("tasks.json");
  args.insert(args.end(),
              {TempFile("tasks.pbtxt", graph), "--input", "x=2000xf32=1", "--trace", trace,
               "--inter-op", "always", "--threads", "3", "--opt-level", "0", "--op-table"});
  const Finished run = GraphRun(args);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Cosh"), HasSubstr("Sinh")));
  std::map<std::string, int> times;
  std::map<int, std::vector<std::pair<double, double>>> spans;
  const json events = json::parse(ReadFile(trace));
  for (const json& event : events["traceEvents"]) {
    if (!event.contains("args") || !event["args"].contains("op")) continue;
    ++times[event["name"]];
    spans[event["tid"]].emplace_back(event["ts"], event["dur"]);
  }
  EXPECT_EQ(times.size(), 24u);
  for (const auto& [name, count] : times) EXPECT_EQ(count, times["Cosh0"]) << name;
  for (auto& [tid, of_thread] : spans) {
    std::sort(of_thread.begin(), of_thread.end());
    for (size_t i = 1; i < of_thread.size(); ++i) {
      const auto [start, length] = of_thread[i - 1];
      EXPECT_LE(start + length, of_thread[i].first + 1e-3) << "thread " << tid;
    }
  }
}

TEST(Devices, KernelsAsAPageHaveARowForEach) {
  const Finished run = GraphRun({"devices", "--kernels=markdown"});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("# Ops with a kernel\n"));
  EXPECT_THAT(run.out, HasSubstr("\n| op | device | types | notes |\n|---|---|---|---|\n"));
  EXPECT_THAT(run.out, HasSubstr("\n| LogicalAnd | CPU |  |  |\n"));
  EXPECT_THAT(run.out, HasSubstr("\n| Acosh | CPU | T: f32 f64 c64 bf16 c128 f16 |  |\n"));
  const std::string table = run.out.substr(run.out.find("|---|"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n') - 1,
            Document({"devices", "--kernels"})["kernels"].size());
}

TEST(Devices, CpuAndApu) {
  const json doc = Document({"devices", "--plugin", Built("lib/plugins/libapu.so"), "--kernels"});
  EXPECT_EQ(doc["devices"][0]["name"], "/physical_device:CPU:0");
  EXPECT_EQ(doc["devices"][1]["name"], "/physical_device:APU:0");
  EXPECT_GT(doc["devices"][0]["memory_bytes"], int64_t{1} << 28);
  EXPECT_GT(doc["devices"][1]["priority"], doc["devices"][0]["priority"]);
  EXPECT_EQ(doc["plugins"][0]["device_type"], "APU");
  EXPECT_THAT(doc["plugins"][0]["entry_points"].get<std::vector<std::string>>(),
              Contains("SE_InitPlugin"));
  EXPECT_TRUE(doc["plugins"][0]["pass"]);
  EXPECT_GT(doc["kernels"].size(), 100);
}

// What devices counts for a device is what its plug-in brings.
TEST(Devices, CountKernelsOfAllDevicesApart) {
  const json doc = Document({"devices", "--plugin", Built("lib/plugins/libapu.so")});
  EXPECT_EQ(doc["devices"][1]["kernels"], doc["plugins"][0]["kernels"]);
  EXPECT_GT(doc["devices"][1]["default_kernels"], 0);
  EXPECT_EQ(doc["devices"][0]["default_kernels"], doc["devices"][1]["default_kernels"]);
}

// A graph with inputs that nobody can write.
TEST(Show, SuggestsNoSpecThatCannotBe) {
  const std::string graph = TempFile("list.pbtxt", R"(
      node { name: 'list' op: 'Placeholder' attr { key: 'dtype' value { type: DT_VARIANT } } }
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }
      node { name: 'size' op: 'TensorListLength' input: 'list' }
      node { name: 'y' op: 'AddV2' input: ['size', 'x'] attr { key: 'T' value { type: DT_INT32 } } })");
  const Finished show = GraphRun({"show", graph});
  EXPECT_THAT(show.out, AllOf(HasSubstr("run " + graph + " --input 'x=i32="),
                              HasSubstr("no SPEC can write list")));
  const Finished run = GraphRun({"run", graph});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("add --input 'x=i32=random(seed=1,lo=0,hi=2)'; no SPEC"),
                             HasSubstr("no SPEC can write list: feed with --input NODE=SPEC")));
  const Finished wrong = GraphRun({"run", graph, "--input", "x=i32=1", "--input", "list=f32=1"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("takes DT_VARIANT"));
  EXPECT_THAT(wrong.err, HasSubstr("no SPEC can write"));
  const Finished behind = GraphRun({"run", graph, "--input", "x=i32=1", "--input", "size=i32=2",
                                    "--expect", "y=i32=3", "--output", "y"});
  EXPECT_EQ(behind.exit, 0) << behind.err;
}

TEST(Show, DotHasTypesShapesDevicesAndConstantsInside) {
  const std::string graph = TempFile("dot.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 2 } } } } }
      node { name: 'w' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'value' value { tensor { dtype: DT_FLOAT
                    tensor_shape { dim { size: 2 } dim { size: 3 } } float_val: 1 } } } }
      node { name: 'y' op: 'MatMul' input: ['x', 'w'] device: '/device:CPU:0'
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'last' op: 'Relu' input: ['y'] attr { key: 'T' value { type: DT_FLOAT } } })");
  const std::string path = TempPath("b.dot");
  ASSERT_EQ(GraphRun({"show", graph, "--dot", path}).exit, 0);
  const std::string dot = ReadFile(path);
  EXPECT_THAT(dot, HasSubstr("[label=\"y\\nMatMul\\n/device:CPU:0\\nw f32[2,3]\", tooltip="));
  EXPECT_THAT(dot, HasSubstr("[label=\"f32[?,2]\"]"));
  EXPECT_THAT(dot, HasSubstr("[label=\"f32[?,3]\"]"));
  EXPECT_THAT(dot, Not(HasSubstr("\"w\\n")));
  const std::string drawing = TempPath("shown.svg");
  ASSERT_EQ(GraphRun({"show", graph, "--svg", drawing}).exit, 0);
  const std::string svg = ReadFile(drawing);
  for (const char* text : {">MatMul</text>", ">y</text>", ">/device:CPU:0</text>",
                           ">w f32[2,3]</text>", ">f32[?,2]</text>", ">f32[?,3]</text>"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr(">w</text>")));
  EXPECT_THAT(GraphRun({"show", graph, "--svg", "/nonexistent/x.svg"}).err,
              HasSubstr("/nonexistent/x.svg"));
  const Finished refused = GraphRun({"show", graph, "--dot", "/nonexistent/x.dot"});
  EXPECT_NE(refused.exit, 0);
  EXPECT_THAT(refused.err, HasSubstr("/nonexistent/x.dot"));
}

// What a name may hold and XML may not.
TEST(Show, DrawsAnyName) {
  const std::string graph = TempFile(
      "names.pbtxt",
      "node { name: 'a>b' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }");
  const std::string drawing = TempPath("names.svg");
  ASSERT_EQ(GraphRun({"show", graph, "--svg", drawing}).exit, 0);
  EXPECT_THAT(ReadFile(drawing), HasSubstr(">a&gt;b</text>"));
}

}  // namespace
}  // namespace tenon::testing
