// The passes work on the bodies of functions that stay functions, and what they mean stays.
#include "executor/compile/bodies/optimize_bodies.h"

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/functions/function_body.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "plugin/host/loading/loader.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/paths.h"

namespace tenon::optimize_bodies_test {
namespace {

using testing::Bool;
using testing::Call;
using testing::Const;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Floats;
using testing::Func;
using testing::Function;
using ::testing::HasSubstr;
using testing::Library;
using testing::MakeSession;
using testing::Node;
using ::testing::Not;
using testing::Op;
using testing::Parse;
using testing::Placeholder;
using testing::Ret;
using testing::Type;
using testing::Types;
using testing::Values;

constexpr char kRow[] = "dim { size: 1 } dim { size: 2 }";

constexpr char kWeights[] = "1, 0, 0.5, 1", kBias[] = "1, -2";

std::string Dense() { return testing::DenseNodes(kWeights, kBias); }
std::string DenseFunction(std::string_view attrs = "") {
  return testing::DenseFunction(kWeights, kBias, attrs);
}
std::string NegFunction() {
  return Function("neg", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0"));
}
std::string If(std::string_view name, std::string_view then, std::string_view otherwise,
               std::string_view op = "StatelessIf") {
  return Op(name, op, {"flag", "x"},
            Type("Tcond", "DT_BOOL") + Types("Tin", {"DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"}) +
                Func("then_branch", then) + Func("else_branch", otherwise));
}

std::vector<std::string> OpsOf(const Graph& g, std::string_view function) {
  const FunctionEntry* entry = g.FindFunction(function);
  std::vector<std::string> ops;
  if (entry == nullptr) return {"no such function"};
  for (const BodyNode& node : ParseFunctionBody(g, *entry).nodes) ops.emplace_back(node.op_name());
  std::sort(ops.begin(), ops.end());
  return ops;
}

// Rows of passes that worked on a body, as "pass in function".
std::vector<std::string> Rows(const Executable& e) {
  std::vector<std::string> rows;
  for (const PassReport& row : OptimizerReport(e).passes) {
    EXPECT_FALSE(row.failed) << row.name << ": " << row.reason;
    if (!row.function.empty()) rows.push_back(absl::StrCat(row.name, " in ", row.function));
  }
  return rows;
}

struct Prepared {
  std::unique_ptr<Session> session;
  Executable* executable = nullptr;
  const Graph& graph() const { return OptimizedGraph(*executable); }
};

// Runs the text with and without passes; the results are to be the same.
Prepared RunBoth(const std::string& text, const std::vector<Session::NamedTensor>& feeds,
                 const std::vector<std::string>& fetches) {
  std::vector<std::string> names;
  for (const auto& [name, value] : feeds) names.push_back(name);
  std::vector<std::vector<float>> values;
  Prepared last;
  for (const int level : {0, 1}) {
    last.session = MakeSession(text, level);
    auto e = last.session->Prepare(names, fetches);
    EXPECT_TRUE(e.ok()) << e.status();
    const auto out = last.session->Run(feeds, fetches);
    EXPECT_TRUE(out.ok()) << out.status();
    if (!e.ok() || !out.ok()) return last;
    values.push_back(Values((*out)[0]));
    last.executable = *e;
  }
  EXPECT_EQ(values[0], values[1]);
  return last;
}

TEST(BodyOptimizer, LoopBodies) {
  const std::string body =
      Function("body", {"a", "i", "n"}, {"r", "j", "m"},
               Dense() + Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
                   Node("next", "AddV2", {"i", "one:output:0"}),
               Ret("r", "relu:activations:0") + Ret("j", "next:z:0") + Ret("m", "n"));
  std::string cond = Function("cond", {"a", "i", "n"}, {"r"}, Node("less", "Less", {"i", "n"}),
                              Ret("r", "less:z:0"));
  cond.replace(cond.find("output_arg"), std::string("output_arg { name: 'r' type: DT_FLOAT").size(),
               "output_arg { name: 'r' type: DT_BOOL");
  const std::string types = Types("T", {"DT_FLOAT", "DT_FLOAT", "DT_FLOAT"});
  const std::string text = Placeholder("x", kRow) + Placeholder("n", "") +
                           Const("zero", "DT_FLOAT", "tensor_shape {} float_val: 0") +
                           Op("loop", "StatelessWhile", {"x", "zero", "n"},
                              types + Func("cond", "cond") + Func("body", "body")) +
                           Node("y", "Neg", {"loop"}) + Library({body, cond});
  const Prepared p = RunBoth(text, {{"x", Floats({1, 2}, {1, 2})}, {"n", Floats({5}, {})}}, {"y"});
  EXPECT_THAT(OpsOf(p.graph(), "body"), Contains("_FusedMatMul"));
  EXPECT_THAT(OpsOf(p.graph(), "body"), Not(Contains("Relu")));
  EXPECT_THAT(Rows(*p.executable), Contains("remapping in body"));
}

// Two nodes that call one function.
TEST(BodyOptimizer, EachBodyOnce) {
  const std::string text = Placeholder("x", kRow) + Placeholder("flag", "", "DT_BOOL") +
                           If("one", "dense", "neg") + If("two", "neg", "dense") +
                           Node("y", "Sub", {"one", "two"}) +
                           Library({DenseFunction(), NegFunction()});
  for (const bool flag : {true, false}) {
    const Prepared p = RunBoth(text, {{"x", Floats({1, 2}, {1, 2})}, {"flag", Bool(flag)}}, {"y"});
    EXPECT_THAT(OpsOf(p.graph(), "dense"), ElementsAre("Const", "Const", "_FusedMatMul"));
    EXPECT_THAT(OpsOf(p.graph(), "neg"), ElementsAre("Neg"));
    EXPECT_EQ(std::ranges::count(Rows(*p.executable), "remapping in dense"), 1);
  }
}

TEST(BodyOptimizer, FunctionsThatAreNotInlined) {
  const std::string text = Placeholder("x", kRow) + Call("top", "dense", {"x"}) +
                           Node("y", "Neg", {"top"}) +
                           Library({DenseFunction("attr { key: '_noinline' value { b: true } }")});
  const Prepared p = RunBoth(text, {{"x", Floats({1, 2}, {1, 2})}}, {"y"});
  EXPECT_THAT(OpsOf(p.graph(), "dense"), ElementsAre("Const", "Const", "_FusedMatMul"));
  const FunctionEntry& dense = *p.graph().FindFunction("dense");
  ASSERT_EQ(ParseFunctionBody(p.graph(), dense).attrs.size(), 1u);
}

TEST(BodyOptimizer, CallsInBodiesAreInlined) {
  const std::string outer =
      Function("outer", {"a"}, {"r"}, Node("n", "Neg", {"a"}) + Call("h", "dense", {"n:y:0"}),
               Ret("r", "h:output:0"));
  const std::string text = Placeholder("x", kRow) + Placeholder("flag", "", "DT_BOOL") +
                           If("c", "outer", "neg") + Node("y", "Neg", {"c"}) +
                           Library({DenseFunction(), NegFunction(), outer});
  const Prepared p = RunBoth(text, {{"x", Floats({-1, -2}, {1, 2})}, {"flag", Bool(true)}}, {"y"});
  EXPECT_THAT(OpsOf(p.graph(), "outer"), ElementsAre("Const", "Const", "Neg", "_FusedMatMul"));
  EXPECT_THAT(OpsOf(p.graph(), "dense"), ElementsAre("no such function"));
  // What is written can be read again.
  EXPECT_THAT(Verify(p.graph()), ElementsAre());
}

TEST(BodyOptimizer, WhatABodyDoesStays) {
  std::string check =
      Function("check", {"a"}, {"r"},
               Const("limit", "DT_FLOAT", "tensor_shape {} float_val: 1") +
                   Node("less", "Less", {"a", "limit:output:0"}) +
                   Op("guard", "Assert", {"less:z:0", "a"}, Types("T", {"DT_FLOAT"})) +
                   Const("u", "DT_FLOAT", "tensor_shape {} float_val: 3") +
                   Const("v", "DT_FLOAT", "tensor_shape {} float_val: 4") +
                   Node("s", "AddV2", {"u:output:0", "v:output:0"}) + Node("unused", "Exp", {"a"}),
               Ret("r", "s:z:0"));
  check.insert(check.find("signature {") + 11, " is_stateful: true ");
  const std::string text = Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL") +
                           If("y", "check", "neg", "If") + Library({check, NegFunction()});
  const Prepared p = RunBoth(text, {{"x", Floats({0}, {})}, {"flag", Bool(true)}}, {"y"});
  EXPECT_THAT(OpsOf(p.graph(), "check"), ElementsAre("Assert", "Const", "Const", "Less"));
  const auto out = p.session->Run({{"x", Floats({2}, {})}, {"flag", Bool(true)}}, {"y"});
  EXPECT_THAT(std::string(out.status().message()),
              HasSubstr("node 'guard' (Assert) in function 'check', called at node 'y'"));
}

TEST(BodyOptimizer, SwitchesOfPassesHold) {
  const std::string text = Placeholder("x", kRow) + Placeholder("flag", "", "DT_BOOL") +
                           If("y", "dense", "neg") + Library({DenseFunction(), NegFunction()});
  const auto ops = [&](const PipelineOptions& pipeline) {
    SessionOptions options;
    options.threads = 1;
    options.pipeline = pipeline;
    auto session = *Session::Create(Parse(text), {}, options);
    auto e = session->Prepare({"x", "flag"}, {"y"});
    EXPECT_TRUE(e.ok()) << e.status();
    return OpsOf(OptimizedGraph(**e), "dense");
  };
  PipelineOptions pipeline;
  EXPECT_THAT(ops(pipeline), Contains("_FusedMatMul"));
  pipeline.disabled_passes = {"remapping"};
  EXPECT_THAT(ops(pipeline), Not(Contains("_FusedMatMul")));
  pipeline = PipelineOptions();
  pipeline.bisect_limit = 0;
  EXPECT_THAT(ops(pipeline), Not(Contains("_FusedMatMul")));
}

// XLA compiles what it is given, and knows no fused nodes.
TEST(BodyOptimizer, BodiesForXlaStay) {
  const std::string text =
      Placeholder("x", kRow) +
      Op("top", "PartitionedCall", {"x"},
         Func("f", "outer") + Types("Tin", {"DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"}) +
             "attr { key: '_XlaMustCompile' value { b: true } }") +
      Node("y", "Neg", {"top"}) +
      Library({DenseFunction(),
               Function("outer", {"a"}, {"r"}, Call("h", "dense", {"a"}), Ret("r", "h:output:0"))});
  const Prepared p = RunBoth(text, {{"x", Floats({1, 2}, {1, 2})}}, {"y"});
  EXPECT_THAT(Rows(*p.executable), ElementsAre());
  EXPECT_THAT(OpsOf(p.graph(), "outer"), ElementsAre("PartitionedCall"));
}

// Nodes of a body ask for the devices that they asked for before, and one body serves one device.
TEST(BodyOptimizer, Devices) {
  ASSERT_TRUE(LoadPlugin(testing::Built("lib/plugins/libapu.so")).ok());
  const auto bodies = [&](std::string_view one, std::string_view two) {
    const auto on = [](std::string node, std::string_view device) {
      return device.empty()
                 ? node
                 : node.insert(node.rfind('}'), absl::StrCat(" device: '", device, "' "));
    };
    auto session = *Session::Create(
        Parse(Placeholder("x", kRow) + Placeholder("flag", "", "DT_BOOL") +
              on(If("one", "dense", "neg"), one) + on(If("two", "dense", "neg"), two) +
              Node("y", "Sub", {"one", "two"}) + Library({DenseFunction(), NegFunction()})),
        *PluginDevices(), SessionOptions());
    auto e = session->Prepare({"x", "flag"}, {"y"});
    EXPECT_TRUE(e.ok()) << e.status();
    for (const BodyNode& node :
         ParseFunctionBody(OptimizedGraph(**e), *OptimizedGraph(**e).FindFunction("dense")).nodes)
      EXPECT_EQ(node.device, "");
    const auto out = session->Run({{"x", Floats({1, 2}, {1, 2})}, {"flag", Bool(true)}}, {"one"});
    EXPECT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(3, 0));
    return OpsOf(OptimizedGraph(**e), "dense");
  };
  EXPECT_THAT(bodies("", ""), Contains("ApuBiasRelu"));  // by the plug-in's pass
  EXPECT_THAT(bodies("/device:CPU:0", "/device:CPU:0"), Contains("_FusedMatMul"));
  EXPECT_THAT(bodies("/device:CPU:0", "/device:APU:0"), Not(Contains("_FusedMatMul")));
}

}  // namespace
}  // namespace tenon::optimize_bodies_test
