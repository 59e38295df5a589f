// The pass function_optimization: what functions hold is there for the other passes, and what a
// graph means stays.
#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "plugin/host/loading/loader.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using testing::Bool;
using testing::Call;
using testing::Const;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Floats;
using testing::Function;
using ::testing::HasSubstr;
using testing::Library;
using testing::MakeSession;
using testing::Node;
using testing::Op;
using testing::Parse;
using testing::Placeholder;
using testing::Ret;
using testing::Type;
using testing::Types;
using testing::Values;

constexpr char kRow[] = "dim { size: 1 } dim { size: 2 }";

std::string DenseFunction(std::string_view attrs = "") {
  return testing::DenseFunction("1, 2, 3, 4", "1, -20", attrs);
}

std::vector<std::string> OpsOf(const Graph& g) {
  std::vector<std::string> ops;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (g.alive(n)) ops.emplace_back(g.op_name(n));
  }
  std::sort(ops.begin(), ops.end());
  return ops;
}

std::string OpOf(const Executable& e, std::string_view node) {
  const Graph& g = OptimizedGraph(e);
  const NodeId n = g.FindNode(node);
  return n == kNoNode ? "" : std::string(g.op_name(n));
}

std::vector<float> RunOne(Session& session, std::vector<Session::NamedTensor> feeds,
                          const std::string& fetch) {
  const auto out = session.Run(feeds, {fetch});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? Values((*out)[0]) : std::vector<float>();
}

// The row of a pass, or one without a name.
PassReport RowOf(const Executable& e, std::string_view pass) {
  for (const PassReport& row : OptimizerReport(e).passes) {
    if (row.name == pass) return row;
  }
  return {};
}

// More is known of shapes once a call is inlined: then a node may turn out to be one that can only
// fail. It is no obstacle unless it is fetched, and no fault of the pass.
TEST(InlineCalls, NodesThatCanOnlyFailAreNoObstacle) {
  const std::string text =
      Placeholder("x", "dim { size: 4 }") + Placeholder("v", "dim { size: 5 }") +
      Call("c", "same", {"v"}) + Node("bad", "AddV2", {"x", "c"}) + Node("y", "Neg", {"c"}) +
      Library({Function("same", {"a"}, {"r"}, Node("n", "Abs", {"a"}), Ret("r", "n:y:0"))});
  const std::vector<Session::NamedTensor> feeds = {{"v", Floats({1, 2, 3, 4, 5}, {5})}};
  for (const bool prunes : {true, false}) {
    SessionOptions options;
    options.threads = 1;
    options.pipeline.min_graph_nodes = -1;
    if (!prunes) options.pipeline.disabled_passes = {"model_pruning"};
    auto session = MakeSession(text, options);
    const auto e = session->Prepare({"v"}, {"y"});
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_TRUE(RowOf(**e, "function_optimization").changed);
    for (const PassReport& row : OptimizerReport(**e).passes)
      EXPECT_FALSE(row.failed) << row.name << row.reason;
    EXPECT_THAT(RunOne(*session, feeds, "y"), ElementsAre(-1, -2, -3, -4, -5));
    // Who fetches it hears it from the run.
    const auto needed = session->Run(
        {{"x", Floats({1, 2, 3, 4}, {4})}, {"v", Floats({1, 2, 3, 4, 5}, {5})}}, {"bad"});
    EXPECT_THAT(std::string(needed.status().message()), HasSubstr("node 'bad' (AddV2)"));
  }
  auto session = MakeSession(text, 1);
  const auto e = session->Prepare({"x", "v"}, {"bad"});
  ASSERT_TRUE(e.ok()) << e.status();
  const PassReport row = RowOf(**e, "function_optimization");
  EXPECT_TRUE(row.left_undone);
  EXPECT_FALSE(row.failed);
  EXPECT_THAT(row.reason, HasSubstr("left undone: node 'bad' (AddV2)"));
}

TEST(InlineCalls, OtherPassesSeeTheBody) {
  for (const char* op : {"PartitionedCall", "StatefulPartitionedCall"}) {
    // Two nodes, too few for the passes if the body did not count.
    auto session = MakeSession(
        Placeholder("x", kRow) + Call("y", "dense", {"x"}, 1, op) + Library({DenseFunction()}), 1);
    auto e = session->Prepare({"x"}, {"y"});
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_THAT(OpsOf(OptimizedGraph(**e)),
                ElementsAre("Const", "Const", "Identity", "Placeholder", "_FusedMatMul"));
    EXPECT_THAT(RunOne(*session, {{"x", Floats({1, 1}, {1, 2})}}, "y"), ElementsAre(5, 0));
    const PipelineReport& report = OptimizerReport(**e);
    EXPECT_EQ(report.nodes_before, 2);
    ASSERT_GT(report.passes.size(), 2u);
    EXPECT_EQ(report.passes[0].name, "implementation_selector");
    EXPECT_EQ(report.passes[1].name, "function_optimization");
    EXPECT_THAT(report.passes[1].rewrites, ElementsAre(std::pair("inline_call", 1)));
    EXPECT_NE(report.passes[2].name, "function_optimization");
  }
}

TEST(InlineCalls, CallsByNameAndCallsInBodies) {
  auto session = MakeSession(
      Placeholder("x", kRow) + Op("top", "outer", {"x"}) + Node("y", "Neg", {"top"}) +
          Library({DenseFunction(), Function("outer", {"a"}, {"r"}, Op("inner", "dense", {"a"}),
                                             Ret("r", "inner:r:0"))}),
      1);
  auto e = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(OpOf(**e, "top"), "");
  EXPECT_EQ(OpOf(**e, "top/inner/relu"), "_FusedMatMul");
  EXPECT_THAT(OptimizerReport(**e).passes[1].rewrites, ElementsAre(std::pair("inline_call", 2)));
  EXPECT_THAT(RunOne(*session, {{"x", Floats({1, 1}, {1, 2})}}, "y"), ElementsAre(-5, 0));
}

// As in TensorFlow; a run writes them out all the same.
// A check of the pass can stop it between any two calls.
TEST(InlineCalls, CanBeReplayedInPart) {
  class Replayer : public PipelineObserver {
   public:
    absl::Status CheckPass(const PassRun& run, const Graph& after,
                           const ReplayPass& replay) override {
      if (run.pass != "function_optimization" || !run.function.empty()) return absl::OkStatus();
      for (int64_t count : {0, 1, 2}) {
        const absl::StatusOr<Graph> some =
            replay([&](int64_t number, const RewriteEvent&) { return number < count; });
        EXPECT_TRUE(some.ok()) << some.status();
        int64_t calls = 0;
        for (const std::string& op : OpsOf(*some)) calls += op == "PartitionedCall" ? 1 : 0;
        left.push_back(calls);
      }
      whole = OpsOf(after);
      return absl::OkStatus();
    }
    std::vector<int64_t> left;
    std::vector<std::string> whole;
  };
  Replayer replayer;
  SessionOptions options;
  options.pipeline.observers = {&replayer};
  auto session = Session::Create(Parse(Placeholder("x", kRow) + Call("c", "dense", {"x"}) +
                                       Call("y", "dense", {"c"}) + Library({DenseFunction()})),
                                 {}, options)
                     .value();
  const auto e = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_THAT(replayer.left, ElementsAre(2, 1, 0));
  EXPECT_THAT(replayer.whole, Contains("MatMul"));
  EXPECT_THAT(RunOne(*session, {{"x", Floats({1, 1}, {1, 2})}}, "y"), ElementsAre(6, 0));
}

TEST(InlineCalls, MarkedOnesStay) {
  const std::string call = "attr { key: 'f' value { func { name: 'dense' } } }" +
                           Types("Tin", {"DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"});
  const std::string marks[][2] = {
      {"", "attr { key: '_noinline' value { b: true } }"},
      {"attr { key: '_XlaMustCompile' value { b: true } }", ""},
      {"attr { key: '_xla_compile_id' value { s: '7' } }", ""},
      {"attr { key: '_grappler_do_not_remove' value { b: true } }", ""},
  };
  for (const auto& [of_call, of_function] : marks) {
    auto session =
        MakeSession(Placeholder("x", kRow) + Op("top", "PartitionedCall", {"x"}, call + of_call) +
                        Node("y", "Neg", {"top"}) + Library({DenseFunction(of_function)}),
                    1);
    auto e = session->Prepare({"x"}, {"y"});
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_EQ(OpOf(**e, "top"), "PartitionedCall") << of_call << of_function;
    EXPECT_THAT(RunOne(*session, {{"x", Floats({1, 1}, {1, 2})}}, "y"), ElementsAre(-5, 0));
  }
  auto session =
      MakeSession(Placeholder("x", kRow) +
                      Op("top", "PartitionedCall", {"x"},
                         call + "attr { key: '_xla_compile_id' value { s: '' } }") +
                      Library({DenseFunction("attr { key: '_noinline' value { b: false } }")}),
                  1);
  auto e = session->Prepare({"x"}, {"top"});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(OpOf(**e, "top"), "Identity");
}

TEST(InlineCalls, CanBeSwitchedOff) {
  SessionOptions options;
  options.threads = 1;
  const auto op_of_call = [&] {
    auto session = *Session::Create(Parse(Placeholder("x", kRow) + Call("top", "dense", {"x"}) +
                                          Node("y", "Neg", {"top"}) + Library({DenseFunction()})),
                                    {}, options);
    auto e = session->Prepare({"x"}, {"y"});
    EXPECT_TRUE(e.ok()) << e.status();
    return OpOf(**e, "top");
  };
  EXPECT_EQ(op_of_call(), "");
  PipelineOptions& pipeline = options.pipeline;
  pipeline.disabled_passes = {"function_optimization"};
  EXPECT_EQ(op_of_call(), "PartitionedCall");
  pipeline = {};
  pipeline.disabled_rewrites = {"function_optimization.inline_call"};
  EXPECT_EQ(op_of_call(), "PartitionedCall");
  pipeline = {};
  pipeline.passes = {{"remapping", {}}};
  EXPECT_EQ(op_of_call(), "PartitionedCall");
  pipeline.passes = {{"function_optimization", {}}};
  EXPECT_EQ(op_of_call(), "");
  pipeline = {};
  pipeline.bisect_limit = 0;
  EXPECT_EQ(op_of_call(), "PartitionedCall");
  pipeline.bisect_limit = 1;
  EXPECT_EQ(op_of_call(), "");
}

// What is fetched keeps its name and its outputs, also for who reads the optimized graph later.
TEST(InlineCalls, FetchedCallsStayAsIdentities) {
  const std::string text =
      Placeholder("x", "dim { size: 2 }") + Call("one", "f", {"x"}, 2) +
      Call("none", "g", {"x"}, 0, "StatefulPartitionedCall") + Node("y", "Neg", {"one:1"}) +
      Library({Function("f", {"a"}, {"r", "s"}, Node("n", "Neg", {"a"}) + Node("m", "Exp", {"a"}),
                        Ret("r", "n:y:0") + Ret("s", "m:y:0")),
               Function("g", {"a"}, {},
                        Const("yes", "DT_BOOL", "tensor_shape {} bool_val: true") +
                            Op("check", "Assert", {"yes:output:0", "a"}, Types("T", {"DT_FLOAT"})),
                        "")});
  auto session = MakeSession(text, 1);
  const std::vector<std::string> fetches = {"one:0", "one:1", "none", "y", "^one"};
  auto e = session->Prepare({"x"}, fetches);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(OpOf(**e, "one"), "IdentityN");
  EXPECT_EQ(OpOf(**e, "none"), "NoOp");
  const Graph& optimized = OptimizedGraph(**e);
  EXPECT_EQ(optimized.op_name(optimized.FindNode("none/check")), "Assert");
  auto later = MakeSession(ExportText(optimized).value());
  for (Session* s : {session.get(), later.get()}) {
    const auto out = s->Run({{"x", Floats({0, 0}, {2})}}, fetches);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(0, 0));
    EXPECT_THAT(Values((*out)[1]), ElementsAre(1, 1));
    EXPECT_THAT(Values((*out)[3]), ElementsAre(-1, -1));
  }
}

TEST(InlineCalls, FedCallsStay) {
  auto session =
      MakeSession(Placeholder("x", "") + Call("top", "f", {"x"}, 2) + Node("u", "Neg", {"top"}) +
                      Node("v", "Neg", {"top:1"}) + Node("w", "AddV2", {"u", "v"}) +
                      Library({Function("f", {"a"}, {"r", "s"},
                                        Node("n", "Neg", {"a"}) + Node("m", "Exp", {"a"}),
                                        Ret("r", "n:y:0") + Ret("s", "m:y:0"))}),
                  1);
  const auto part = session->Run({{"x", Floats({0}, {})}, {"top:0", Floats({9}, {})}}, {"w"});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_THAT(Values((*part)[0]), ElementsAre(-10));
  const auto whole = session->Run({{"top:0", Floats({9}, {})}}, {"u"});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_THAT(Values((*whole)[0]), ElementsAre(-9));
}

// A variable of floats, "v", that "set" gives the value 7 and "add" one more.
std::string OneVariable() {
  return Op("v", "VarHandleOp", {},
            Type("dtype", "DT_FLOAT") + "attr { key: 'shape' value { shape {} } }" +
                "attr { key: 'shared_name' value { s: 'v' } }") +
         Const("seven", "DT_FLOAT", "tensor_shape {} float_val: 7") +
         Op("set", "AssignVariableOp", {"v", "seven"}, Type("dtype", "DT_FLOAT"));
}
// A function of a variable and a float.
std::string OfVariable(std::string_view name, const std::string& nodes, std::string_view ret) {
  std::string text = Function(name, {"a"}, {"r"}, nodes, ret);
  text.insert(text.find("input_arg"), "input_arg { name: 'h' type: DT_RESOURCE } ");
  return text;
}
std::string CallWithVariable(std::string_view name, std::string_view function,
                             std::vector<std::string> inputs) {
  return Op(name, "StatefulPartitionedCall", std::move(inputs),
            Types("Tin", {"DT_RESOURCE", "DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"}) +
                testing::Func("f", function));
}
std::string Read(std::string_view name, std::vector<std::string> inputs) {
  return Op(name, "ReadVariableOp", std::move(inputs), Type("dtype", "DT_FLOAT"));
}

TEST(InlineCalls, BodiesWaitForWhatTheCallWaitsFor) {
  const std::string library = Library(
      {OfVariable("read", Read("value", {"h"}) + Node("sum", "AddV2", {"value:value:0", "a"}),
                  Ret("r", "sum:z:0")),
       OfVariable(
           "add",
           Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
               Op("more", "AssignAddVariableOp", {"h", "one:output:0"}, Type("dtype", "DT_FLOAT")),
           Ret("r", "a"))});
  auto session = MakeSession(OneVariable() + Placeholder("x", "") +
                                 CallWithVariable("after", "read", {"v", "x", "^set"}) +
                                 // Ordered by a value, as in version 1.
                                 Node("late", "Identity", {"x", "^set"}) +
                                 CallWithVariable("by_value", "read", {"v", "late"}) +
                                 // Who reads the result of the first sees what it did.
                                 CallWithVariable("first", "add", {"v", "late"}) +
                                 CallWithVariable("second", "read", {"v", "first"}) +
                                 Node("y", "Neg", {"second"}) + library,
                             1);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(RunOne(*session, {{"x", Floats({1}, {})}}, "after"), ElementsAre(8));
    EXPECT_THAT(RunOne(*session, {{"x", Floats({1}, {})}}, "by_value"), ElementsAre(8));
    EXPECT_THAT(RunOne(*session, {{"x", Floats({1}, {})}}, "y"), ElementsAre(-9));
  }
}

TEST(InlineCalls, AResultWaitsForTheChecksOfItsCall) {
  auto session = MakeSession(Placeholder("x", kRow) + Placeholder("ok", "", "DT_BOOL") +
                                 Op("check", "Assert", {"ok", "x"}, Types("T", {"DT_FLOAT"})) +
                                 Call("top", "dense", {"x", "^check"}) + Node("y", "Neg", {"top"}) +
                                 Library({DenseFunction()}),
                             1);
  auto e = session->Prepare({"x", "ok"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(OpOf(**e, "top/relu"), "_FusedMatMul");
  const Tensor x = Floats({1, 1}, {1, 2});
  EXPECT_TRUE(session->Run(*e, {x, Bool(true)}).ok());
  const auto out = session->Run(*e, {x, Bool(false)});
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("'check' (Assert)"));
}

TEST(InlineCalls, CallsBehindASwitchMayBeDead) {
  const std::string constant =
      Function("nine", {"a"}, {"r"}, Const("c", "DT_FLOAT", "tensor_shape {} float_val: 9"),
               Ret("r", "c:output:0"));
  auto session =
      MakeSession(Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL") +
                      Node("s", "Switch", {"x", "flag"}) + Call("top", "nine", {"s:1"}) +
                      Node("m", "Merge", {"s", "top"}, "attr { key: 'N' value { i: 2 } }") +
                      Node("y", "Neg", {"m"}) + Library({constant}),
                  1);
  for (const bool flag : {true, false}) {
    EXPECT_THAT(RunOne(*session, {{"x", Floats({3}, {})}, {"flag", Bool(flag)}}, "y"),
                ElementsAre(flag ? -9 : -3));
  }
}

TEST(InlineCalls, SomeResultsMayBeDead) {
  std::string split = Function("split", {"a"}, {"r", "s"},
                               Const("no", "DT_BOOL", "tensor_shape {} bool_val: false") +
                                   Node("s", "Switch", {"a", "no:output:0"}),
                               Ret("r", "s:output_false:0") + Ret("s", "s:output_true:0"));
  auto session = MakeSession(
      Placeholder("x", "") + Call("top", "through", {"x"}, 2) + Node("y", "Neg", {"top"}) +
          Library({split, Function("through", {"a"}, {"r", "s"}, Call("h", "split", {"a"}, 2),
                                   Ret("r", "h:output:0") + Ret("s", "h:output:1"))}),
      1);
  EXPECT_THAT(RunOne(*session, {{"x", Floats({3}, {})}}, "top:0"), ElementsAre(3));
  EXPECT_THAT(RunOne(*session, {{"x", Floats({3}, {})}}, "y"), ElementsAre(-3));
}

TEST(InlineCalls, CallsInALoopBelongToIt) {
  const auto enter = [](std::string_view name, std::string_view from) {
    return Node(name, "Enter", {std::string(from)}, "attr { key: 'frame_name' value { s: 'f' } }");
  };
  const std::string two = "attr { key: 'N' value { i: 2 } }";
  auto session = MakeSession(
      Placeholder("x", "") + Placeholder("n", "") + enter("e", "x") +
          Node("en", "Enter", {"n"},
               "attr { key: 'frame_name' value { s: 'f' } } attr { key: 'is_constant' value { b: "
               "true } }") +
          Node("m", "Merge", {"e", "next"}, two) + Node("less", "Less", {"m", "en"}) +
          Op("cond", "LoopCond", {"less"}) + Node("s", "Switch", {"m", "cond"}) +
          Call("step", "plus_one", {"s:1"}) + Node("next", "NextIteration", {"step"}) +
          Node("y", "Exit", {"s"}) +
          Library({Function("plus_one", {"a"}, {"r"},
                            Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
                                Node("sum", "AddV2", {"a", "one:output:0"}),
                            Ret("r", "sum:z:0"))}),
      1);
  EXPECT_THAT(RunOne(*session, {{"x", Floats({0}, {})}, {"n", Floats({100}, {})}}, "y"),
              ElementsAre(100));
}

// The nodes of a body with an error that a run finds; x is [1,2].
std::string Reshaping() {
  return Const("shape", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 3") +
         Node("to3", "Reshape", {"a", "shape:output:0"}, Type("Tshape", "DT_INT32"));
}

TEST(InlineCalls, ErrorsNameTheCallsAfterThePasses) {
  const std::string text =
      Placeholder("x", "dim { size: 1 } dim { size: -1 }") + Call("top", "outer", {"x"}) +
      Node("y", "Relu", {"top"}) + Const("b", "DT_FLOAT", "tensor_shape { dim { size: 2 } }") +
      Node("unrelated", "BiasAdd", {"x", "b"}) + Node("relu", "Relu", {"unrelated"}) +
      Library({Function("outer", {"a"}, {"r"}, Call("h", "inner", {"a"}), Ret("r", "h:output:0")),
               Function("inner", {"a"}, {"r"}, Reshaping(), Ret("r", "to3:output:0"))});
  // The pass of the plug-in, which fuses BiasAdd and Relu, renumbers the nodes.
  ASSERT_TRUE(LoadPlugin(testing::Built("lib/plugins/libapu.so")).ok());
  for (const bool plugin : {false, true}) {
    SessionOptions options;
    options.threads = 1;
    auto session =
        *Session::Create(Parse(text), plugin ? *PluginDevices() : std::vector<Device*>(), options);
    auto e = session->Prepare({"x"}, {"y", "relu"});
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_EQ(OpOf(**e, "relu"), plugin ? "ApuBiasRelu" : "Relu");
    EXPECT_EQ(OpOf(**e, "top/h/to3"), "Reshape");
    const auto bad = session->Run(*e, {Floats({1, 2}, {1, 2})});
    EXPECT_THAT(std::string(bad.status().message()),
                HasSubstr("node 'to3' (Reshape) in function 'inner', called from function 'outer' "
                          "at node 'h', called at node 'top'"));
  }
}

TEST(InlineCalls, APluginsPassSeesTheBody) {
  ASSERT_TRUE(LoadPlugin(testing::Built("lib/plugins/libapu.so")).ok());
  auto session = *Session::Create(
      Parse(Placeholder("x", kRow) + Call("y", "f", {"x"}) +
            Library({Function(
                "f", {"a"}, {"r"},
                Const("b", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: [1, -9]") +
                    Node("sum", "BiasAdd", {"a", "b:output:0"}) +
                    Node("relu", "Relu", {"sum:output:0"}),
                Ret("r", "relu:activations:0"))})),
      *PluginDevices(), SessionOptions());
  auto e = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(OpOf(**e, "y/relu"), "ApuBiasRelu");
  EXPECT_THAT(RunOne(*session, {{"x", Floats({3, 4}, {1, 2})}}, "y"), ElementsAre(4, 0));
}

// Bodies that cannot be written out: the run says why, as without passes.
TEST(InlineCalls, RecursionIsRefusedByTheRun) {
  const std::string text =
      Placeholder("x", "dim { size: 2 }") + Call("top", "f", {"x"}) + Node("other", "Neg", {"x"}) +
      Call("fine", "h", {"x"}) +
      Library({Function("f", {"a"}, {"r"}, Call("h", "g", {"a"}), Ret("r", "h:output:0")),
               Function("g", {"a"}, {"r"}, Call("again", "f", {"a"}), Ret("r", "again:output:0")),
               Function("h", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0"))});
  auto session = MakeSession(text, 1);
  const auto out = session->Run({{"x", Floats({1, 2}, {2})}}, {"top"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(out.status().message()),
      AllOf(HasSubstr("node 'again' (PartitionedCall) in function 'g', called from function "
                      "'f' at node 'h', called at node 'top'"),
            HasSubstr("function 'f', of whose body it is a part")));
  EXPECT_THAT(RunOne(*session, {{"x", Floats({1, 2}, {2})}}, "fine"), ElementsAre(-1, -2));
}

}  // namespace
}  // namespace tenon
