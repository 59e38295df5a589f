// Functions made for their callers: what they compute, do and refuse stays, names are their own,
// and there is an end to making them.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/functions/function_body.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "plugin/host/loading/loader.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/paths.h"

namespace tenon::function_specialization_test {
namespace {

using testing::Bool;
using testing::Call;
using testing::Const;
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
using ::testing::StartsWith;
using testing::Type;
using testing::Types;
using testing::Values;

constexpr char kNoInline[] = "attr { key: '_noinline' value { b: true } } ";
constexpr char kStateful[] = "signature { is_stateful: true ";

std::string Scalar(std::string_view name, float value) {
  return Const(name, "DT_FLOAT", absl::StrCat("tensor_shape {} float_val: ", value));
}
// r = op(a, s), q = -a.
std::string Binary(std::string_view name, std::string_view op, std::string_view attrs = "") {
  return Function(name, {"a", "s"}, {"r", "q"}, Node("m", op, {"a", "s"}) + Node("n", "Neg", {"a"}),
                  Ret("r", "m:z:0") + Ret("q", "n:y:0"), attrs);
}
std::string If(std::string_view name, std::string_view then, std::string_view otherwise,
               std::vector<std::string> args, std::string_view op = "StatelessIf") {
  const std::vector<std::string> types(args.size(), "DT_FLOAT");
  args.insert(args.begin(), "flag");
  return Op(name, op, std::move(args),
            Type("Tcond", "DT_BOOL") + Types("Tin", types) + Types("Tout", {"DT_FLOAT"}) +
                Func("then_branch", then) + Func("else_branch", otherwise));
}
std::string Stateful(std::string function) {
  return function.replace(function.find("signature {"), 11, kStateful);
}

// Of the functions that the node's attributes name, in the graph as it was optimized.
std::vector<std::string> CalleesOf(Session& session, const std::vector<std::string>& feeds,
                                   const std::string& fetch, const std::string& node) {
  const auto e = session.Prepare(feeds, {fetch});
  EXPECT_TRUE(e.ok()) << e.status();
  if (!e.ok()) return {};
  const Graph& g = OptimizedGraph(**e);
  EXPECT_THAT(Verify(g), ElementsAre());
  const NodeId n = g.FindNode(node);
  if (n == kNoNode) return {"no such node"};
  std::vector<std::string> names;
  for (const char* attr : {"f", "then_branch", "else_branch"}) {
    const AttrValue* value = g.attr(n, attr);
    if (value != nullptr) names.emplace_back(value->AsFunc()->name);
  }
  if (const AttrValue* branches = g.attr(n, "branches")) {
    const std::vector<FuncAttr> functions = *branches->AsFuncList();
    for (const FuncAttr& function : functions) names.emplace_back(function.name);
  }
  return names;
}

float Answer(Session& session, const std::vector<Session::NamedTensor>& feeds,
             const std::string& fetch) {
  const auto out = session.Run(feeds, {fetch});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? Values((*out)[0])[0] : NAN;
}

TEST(FunctionSpecialization, BranchesKeepTheirOrder) {
  const std::string text =
      Placeholder("x", "") + Placeholder("which", "", "DT_INT32") + Scalar("two", 2) +
      Op("case", "StatelessCase", {"which", "x", "two"},
         Types("Tin", {"DT_FLOAT", "DT_FLOAT"}) + Types("Tout", {"DT_FLOAT", "DT_FLOAT"}) +
             "attr { key: 'branches' value { list { func { name: 'times' } func { name: 'plus' } "
             "func { name: 'less' } } } }") +
      Node("y", "Neg", {"case"}) +
      Library({Binary("plus", "AddV2"), Binary("less", "Sub"), Binary("times", "Mul")});
  auto session = MakeSession(text, 1);
  EXPECT_THAT(CalleesOf(*session, {"x", "which"}, "y", "case"),
              ElementsAre(StartsWith("times_specialized_"), StartsWith("plus_specialized_"),
                          StartsWith("less_specialized_")));
  const float expected[] = {-14, -9, -5, -5};
  for (const int32_t i : {0, 1, 2, 3}) {
    const Tensor which = Tensor::CopyOf(DataType::kInt32, Shape(), &i, sizeof(i));
    EXPECT_EQ(Answer(*session, {{"x", Floats({7}, {})}, {"which", which}}, "y"), expected[i]);
  }
}

// The name that a function would get may be taken by one that does something else.
// A call that stands before the one that it reads has lost arguments when that one loses results.
TEST(FunctionSpecialization, ReadersThatComeFirstReadTheRightResults) {
  const std::string call_types = Types("Tin", {"DT_FLOAT", "DT_FLOAT"});
  const std::string text =
      Placeholder("x", "") + Scalar("two", 2) +
      Op("reader", "PartitionedCall", {"two", "giver:1"},
         call_types + Types("Tout", {"DT_FLOAT"}) + Func("f", "last")) +
      Op("giver", "PartitionedCall", {"x", "two"},
         call_types + Types("Tout", {"DT_FLOAT", "DT_FLOAT"}) + Func("f", "both")) +
      Node("y", "Neg", {"reader"}) +
      Library({Function("last", {"a", "s"}, {"r"}, Node("m", "Square", {"s"}), Ret("r", "m:y:0"),
                        kNoInline),
               Binary("both", "Mul", kNoInline)});
  auto session = MakeSession(text, 1);
  EXPECT_THAT(CalleesOf(*session, {"x"}, "y", "reader"), ElementsAre(StartsWith("last_special")));
  EXPECT_THAT(CalleesOf(*session, {"x"}, "y", "giver"), ElementsAre(StartsWith("both_special")));
  EXPECT_EQ(Answer(*session, {{"x", Floats({7}, {})}}, "y"), -49);
}

TEST(FunctionSpecialization, NamesAreNotTakenTwice) {
  const std::string nodes = Placeholder("x", "") + Scalar("two", 2) + Scalar("three", 3) +
                            Call("one", "f", {"x", "two"}, 2) +
                            Call("other", "f", {"x", "three"}, 2) +
                            Call("again", "f", {"other", "two"}, 2);
  const std::string ends = Node("s", "Sub", {"one", "other"}) + Node("y", "Mul", {"s", "again"});
  const std::string f = Binary("f", "Mul", kNoInline);
  auto session = MakeSession(nodes + ends + Library({f}), 1);
  const auto name = [&](const std::string& node) {
    return CalleesOf(*session, {"x"}, "y", node).at(0);
  };
  EXPECT_NE(name("one"), name("other"));
  EXPECT_EQ(name("one"), name("again"));
  const std::string taken = name("one");
  EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}}, "y"), -150);

  const std::string text = nodes + Call("taken", taken, {"x", "three"}, 2) +
                           Node("t", "Neg", {"taken"}) + Node("u", "Neg", {"one"}) +
                           Node("y", "Sub", {"t", "u"}) +
                           Library({f, Binary(taken, "AddV2", kNoInline)});
  session = MakeSession(text, 1);
  EXPECT_EQ(name("one"), taken + "_1");
  EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}}, "y"), -8 + 10);
}

// What the body checks and changes, and what its control outputs wait for.
TEST(FunctionSpecialization, EffectsStay) {
  const std::string checked =
      Function("checked", {"a", "b"}, {"r", "q"},
               Node("c", "CheckNumerics", {"b"}, "attr { key: 'message' value { s: 'bad' } }") +
                   Node("m", "Neg", {"a"}),
               Ret("r", "m:y:0") + Ret("q", "c:output:0"),
               absl::StrCat(kNoInline, "control_ret { key: 'seen' value: 'c' } "));
  const std::string counts = Stateful(Function(
      "counts", {"a", "s"}, {"r", "q"},
      Op("v", "VarHandleOp", {},
         Type("dtype", "DT_FLOAT") +
             "attr { key: 'shape' value { shape {} } } attr { key: 'shared_name' value { s: 'n' } "
             "}") +
          Op("add", "AssignAddVariableOp", {"v:resource:0", "s"}, Type("dtype", "DT_FLOAT")) +
          Op("now", "ReadVariableOp", {"v:resource:0", "^add"}, Type("dtype", "DT_FLOAT")) +
          Node("m", "Neg", {"a"}),
      Ret("r", "m:y:0") + Ret("q", "now:value:0"), kNoInline));
  const std::string variable =
      Op("v", "VarHandleOp", {},
         Type("dtype", "DT_FLOAT") +
             "attr { key: 'shape' value { shape {} } } attr { key: 'shared_name' value { s: 'n' } "
             "}");
  const std::string text = Placeholder("x", "") + Placeholder("z", "") + Scalar("two", 2) +
                           variable +
                           Op("set", "AssignVariableOp", {"v", "two"}, Type("dtype", "DT_FLOAT")) +
                           Op("get", "ReadVariableOp", {"v"}, Type("dtype", "DT_FLOAT")) +
                           Call("k", "checked", {"x", "z"}, 2) + Node("y", "Neg", {"k"}) +
                           Call("c", "counts", {"x", "two"}, 2, "StatefulPartitionedCall") +
                           Node("w", "Neg", {"c"}) + Library({checked, counts});
  for (const int level : {0, 1}) {
    auto session = MakeSession(text, level);
    EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}, {"z", Floats({1}, {})}}, "y"), 5);
    const auto bad = session->Run({{"x", Floats({5}, {})}, {"z", Floats({NAN}, {})}}, {"y"});
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr("bad")) << level;
    ASSERT_TRUE(session->Run({}, {"set"}).ok());
    EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}}, "w"), 5);
    EXPECT_EQ(Answer(*session, {}, "get"), 4) << level;
    if (level == 0) continue;
    EXPECT_THAT(CalleesOf(*session, {"x"}, "w", "c"), ElementsAre(StartsWith("counts_spec")));
    EXPECT_THAT(CalleesOf(*session, {"x", "z"}, "y", "k"), ElementsAre(StartsWith("checked_spec")));
  }
}

TEST(FunctionSpecialization, FunctionsThatAskForItStay) {
  const auto callee = [](std::string_view attrs) {
    auto session =
        MakeSession(Placeholder("x", "") + Scalar("two", 2) + Call("c", "f", {"x", "two"}, 2) +
                        Node("y", "Neg", {"c"}) + Library({Binary("f", "Mul", attrs)}),
                    1);
    EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}}, "y"), -10);
    return CalleesOf(*session, {"x"}, "y", "c").at(0);
  };
  EXPECT_EQ(callee(absl::StrCat(kNoInline, "attr { key: '_nospecialize' value { b: true } }")),
            "f");
  EXPECT_THAT(callee(kNoInline), StartsWith("f_specialized_"));
}

// TensorFlow would not wait for the call, and so for what it checks, but for its value.
TEST(FunctionSpecialization, ValuesOfCallsAreNotReplacedByControlEdges) {
  const std::string text = Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL") +
                           Scalar("two", 2) + Call("k", "f", {"x", "x"}, 2) +
                           If("c", "left", "right", {"x", "k:1", "two"}) + Node("y", "Neg", {"c"}) +
                           Library({Binary("f", "Mul", kNoInline),
                                    Function("left", {"a", "b", "s"}, {"r"},
                                             Node("m", "Mul", {"a", "s"}), Ret("r", "m:z:0")),
                                    Function("right", {"a", "b", "s"}, {"r"},
                                             Node("m", "Sub", {"a", "s"}), Ret("r", "m:z:0"))});
  auto session = MakeSession(text, 1);
  EXPECT_THAT(CalleesOf(*session, {"x", "flag"}, "y", "c"),
              ElementsAre(StartsWith("left_spec"), StartsWith("right_spec")));
  const Graph& g = OptimizedGraph(**session->Prepare({"x", "flag"}, {"y"}));
  std::vector<std::string> inputs;
  for (const Output& in : g.inputs(g.FindNode("c"))) inputs.push_back(g.OutputName(in));
  EXPECT_THAT(inputs, ElementsAre("flag", "x", StartsWith("k")));
}

// As tf.function writes calls of functions with attributes.
// What TensorFlow writes out computes no argument that its readers do not need: it must not wait
// for one either. What is called computes all.
TEST(FunctionSpecialization, OnlyCallsWaitForArgumentsThatAreLost) {
  for (const bool marked : {false, true}) {
    std::string choice = If("choice", "plus", "less", {"x", "lost"});
    if (marked) {
      choice.insert(choice.rfind('}'),
                    "attr { key: '_lower_using_switch_merge' value { b: true } } ");
    }
    const std::string first = Node("n", "Neg", {"a"}), r = Ret("r", "n:y:0");
    const std::string text =
        Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL") +
        Node("lost", "CheckNumerics", {"x"}, "attr { key: 'message' value { s: 'no number' } } ") +
        choice + Node("y", "Neg", {"choice"}) +
        Library({Function("plus", {"a", "s"}, {"r"}, first, r),
                 Function("less", {"a", "s"}, {"r"}, first, r)});
    auto session = MakeSession(text, 1);
    const auto e = session->Prepare({"x", "flag"}, {"y"});
    ASSERT_TRUE(e.ok()) << e.status();
    const Graph& g = OptimizedGraph(**e);
    const NodeId n = g.FindNode("choice");
    ASSERT_NE(n, kNoNode);
    EXPECT_EQ(g.data_inputs(n).size(), 2);
    EXPECT_EQ(g.control_inputs(n).size(), marked ? 0 : 1);
    const std::vector<Session::NamedTensor> feeds = {{"x", Floats({INFINITY}, {})},
                                                     {"flag", Bool(true)}};
    EXPECT_EQ(session->Run(feeds, {"y"}).ok(), marked);
  }
}

TEST(FunctionSpecialization, AttributesOfTheCallStay) {
  auto session =
      MakeSession(Placeholder("x", "") + Scalar("two", 2) +
                      Op("c", "PartitionedCall", {"x", "two"},
                         Types("Tin", {"DT_FLOAT", "DT_FLOAT"}) +
                             Types("Tout", {"DT_FLOAT", "DT_FLOAT"}) + Func("f", "f", kNoInline)) +
                      Node("y", "Neg", {"c"}) + Library({Binary("f", "Mul", kNoInline)}),
                  1);
  EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}}, "y"), -10);
  EXPECT_THAT(CalleesOf(*session, {"x"}, "y", "c"), ElementsAre(StartsWith("f_specialized_")));
  const Graph& g = OptimizedGraph(**session->Prepare({"x"}, {"y"}));
  const AttrSet attrs = ParseFuncAttrs(*g.attr(g.FindNode("c"), "f")->AsFunc());
  ASSERT_NE(attrs.Find("_noinline"), nullptr);
  EXPECT_TRUE(*attrs.Find("_noinline")->AsBool());
}

// A function that calls itself with other constants would become ever more functions.
TEST(FunctionSpecialization, RecursionIsRefusedAsBefore) {
  const auto step = [](std::string_view name, std::string_view next) {
    return Function(
        name, {"flag", "a", "n"}, {"r"},
        Scalar("one", 1) + Node("more", "AddV2", {"n", "one:output:0"}) +
            Op("again", "StatelessIf", {"flag", "flag", "a", "more:z:0"},
               Type("Tcond", "DT_FLOAT") + Types("Tin", {"DT_FLOAT", "DT_FLOAT", "DT_FLOAT"}) +
                   Types("Tout", {"DT_FLOAT"}) + Func("then_branch", next) +
                   Func("else_branch", "end")),
        Ret("r", "again:output:0"));
  };
  const std::string end =
      Function("end", {"flag", "a", "n"}, {"r"}, Node("m", "Mul", {"a", "n"}), Ret("r", "m:z:0"));
  for (const auto& functions :
       {Library({step("f", "f"), end}), Library({step("f", "g"), step("g", "f"), end})}) {
    const std::string text =
        Placeholder("flag", "") + Scalar("zero", 0) +
        Op("c", "StatelessIf", {"flag", "flag", "flag", "zero"},
           Type("Tcond", "DT_FLOAT") + Types("Tin", {"DT_FLOAT", "DT_FLOAT", "DT_FLOAT"}) +
               Types("Tout", {"DT_FLOAT"}) + Func("then_branch", "f") +
               Func("else_branch", "end")) +
        Node("y", "Neg", {"c"}) + functions;
    for (const int level : {0, 1}) {
      const absl::Status status =
          MakeSession(text, level)->Run({{"flag", Floats({1}, {})}}, {"y"}).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
      EXPECT_THAT(status.message(), Not(HasSubstr("_specialized_"))) << level;
    }
  }
}

// The search along Identities for what a result passes on has an end.
// There is nothing to remove from it, not even where only its first variable would be computed.
TEST(FunctionSpecialization, LoopsWithoutVariablesAreRefusedAsBefore) {
  std::string again =
      Function("again", {}, {"r"}, Const("no", "DT_BOOL", "tensor_shape {} bool_val: false"),
               Ret("r", "no:output:0"));
  again.replace(again.find("type: DT_FLOAT"), 14, "type: DT_BOOL");
  const std::string text = Placeholder("x", "") +
                           Op("loop", "StatelessWhile", {},
                              Types("T", {}) + Func("cond", "again") + Func("body", "step") +
                                  "attr { key: '_lower_using_switch_merge' value { b: true } } ") +
                           Node("a", "Exp", {"x"}) + Node("b", "Sin", {"a"}) +
                           Node("y", "Neg", {"b", "^loop"}) +
                           Library({again, Function("step", {}, {}, "", "")});
  for (const int level : {0, 1}) {
    const absl::Status status =
        MakeSession(text, level)->Run({{"x", Floats({1}, {})}}, {"y"}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  }
}

// Twice as many constants on each level: all of them would be 2^12 functions.
TEST(FunctionSpecialization, ThereIsAnEnd) {
  constexpr int kLevels = 12;
  std::vector<std::string> functions = {
      Function("end", {"flag", "a", "n"}, {"r"}, Node("m", "Mul", {"a", "n"}), Ret("r", "m:z:0"))};
  const auto branch = [](std::string_view name, int level, std::vector<std::string> args) {
    return Op(name, "StatelessIf", std::move(args),
              Type("Tcond", "DT_FLOAT") + Types("Tin", {"DT_FLOAT", "DT_FLOAT", "DT_FLOAT"}) +
                  Types("Tout", {"DT_FLOAT"}) +
                  Func("then_branch", level == kLevels ? "end" : absl::StrCat("f", level)) +
                  Func("else_branch", "end"));
  };
  for (int i = 1; i < kLevels; ++i) {
    functions.push_back(Function(absl::StrCat("f", i), {"flag", "a", "n"}, {"r"},
                                 Scalar("one", 1) + Node("twice", "AddV2", {"n", "n"}) +
                                     Node("odd", "AddV2", {"twice:z:0", "one:output:0"}) +
                                     branch("left", i + 1, {"flag", "flag", "a", "twice:z:0"}) +
                                     branch("right", i + 1, {"flag", "flag", "a", "odd:z:0"}) +
                                     Node("s", "Sub", {"left:output:0", "right:output:0"}),
                                 Ret("r", "s:z:0")));
  }
  const std::string text = Placeholder("flag", "") + Scalar("one", 1) +
                           branch("c", 1, {"flag", "flag", "flag", "one"}) +
                           Node("y", "Neg", {"c"}) + Library(functions);
  auto session = MakeSession(text, 1);
  const auto e = session->Prepare({"flag"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  size_t bytes = 0;
  for (const FunctionEntry& function : OptimizedGraph(**e).functions())
    bytes += function.wire.size();
  EXPECT_GT(bytes, size_t{1} << 19);
  EXPECT_LT(bytes, size_t{3} << 19) << bytes;
}

// A body is optimized for one device, so each device has its own.
TEST(FunctionSpecialization, DevicesDoNotShare) {
  ASSERT_TRUE(LoadPlugin(testing::Built("lib/plugins/libapu.so")).ok());
  const auto on = [](std::string node, std::string_view device) {
    return node.insert(node.rfind('}'), absl::StrCat(" device: '", device, "' "));
  };
  auto session = *Session::Create(
      Parse(
          Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL") + Scalar("two", 2) +
          on(If("one", "f", "g", {"x", "two"}), "/device:CPU:0") +
          on(If("other", "f", "g", {"x", "two"}), "/device:APU:0") +
          Node("y", "Sub", {"one", "other"}) +
          Library(
              {Function("f", {"a", "s"}, {"r"}, Node("m", "Mul", {"a", "s"}), Ret("r", "m:z:0")),
               Function("g", {"a", "s"}, {"r"}, Node("m", "Sub", {"a", "s"}), Ret("r", "m:z:0"))})),
      *PluginDevices(), SessionOptions());
  EXPECT_NE(CalleesOf(*session, {"x", "flag"}, "y", "one"),
            CalleesOf(*session, {"x", "flag"}, "y", "other"));
  EXPECT_EQ(Answer(*session, {{"x", Floats({5}, {})}, {"flag", Bool(true)}}, "y"), 0);
}

}  // namespace
}  // namespace tenon::function_specialization_test
