// Functions, branches and loops: what self-checking graphs cannot say. The graphs themselves are in
// tests/golden/control_flow.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/pass_on_util.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using testing::Bool;
using testing::Call;
using testing::Const;
using ::testing::ElementsAre;
using testing::Floats;
using testing::Func;
using testing::Function;
using ::testing::HasSubstr;
using testing::Library;
using testing::Loop;
using testing::MakeSession;
using testing::Node;
using testing::Numbers;
using testing::Placeholder;
using testing::Ret;
using testing::Type;
using testing::Types;
using testing::Values;

const char kShapeOf3[] = "tensor_shape { dim { size: 1 } } int_val: 3";

TEST(Functions, ErrorsNameTheCalls) {
  auto session = MakeSession(
      Placeholder("x", "dim { size: -1 }") + Call("top", "outer", {"x"}) +
      Library(
          {Function("outer", {"a"}, {"r"}, Call("h", "inner", {"a"}), Ret("r", "h:output:0")),
           Function("inner", {"a"}, {"r"},
                    Const("shape", "DT_INT32", kShapeOf3) +
                        Node("to3", "Reshape", {"a", "shape:output:0"}, Type("Tshape", "DT_INT32")),
                    Ret("r", "to3:output:0"))}));
  const auto good = session->Run({{"x", Floats({1, 2, 3}, {3})}}, {"top"});
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_THAT(Values((*good)[0]), ElementsAre(1, 2, 3));
  const auto bad = session->Run({{"x", Floats({1, 2}, {2})}}, {"top"});
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bad.status().message()),
              HasSubstr("node 'to3' (Reshape) in function 'inner', called from function 'outer' at "
                        "node 'h', called at node 'top'"));
}

TEST(Functions, RecursionIsRefusedWithItsChain) {
  auto session = MakeSession(
      Placeholder("x", "dim { size: 2 }") + Call("top", "f", {"x"}) + Node("other", "Neg", {"x"}) +
      Library(
          {Function("f", {"a"}, {"r"}, Call("h", "g", {"a"}), Ret("r", "h:output:0")),
           Function("g", {"a"}, {"r"}, Call("again", "f", {"a"}), Ret("r", "again:output:0"))}));
  const auto out = session->Run({{"x", Floats({1, 2}, {2})}}, {"top"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(out.status().message()),
      AllOf(HasSubstr("node 'again' (PartitionedCall) in function 'g', called from function "
                      "'f' at node 'h', called at node 'top'"),
            HasSubstr("function 'f', of whose body it is a part")));
  EXPECT_TRUE(session->Run({{"x", Floats({1, 2}, {2})}}, {"other"}).ok());  // needs no call
}

TEST(Functions, WhatCallsWouldMakeIsBounded) {
  // Each function calls the next one twice.
  std::vector<std::string> functions;
  for (int i = 0; i < 40; ++i) {
    const std::string next = absl::StrCat("f", i + 1);
    functions.push_back(Function(absl::StrCat("f", i), {"a"}, {"r"},
                                 Call("one", next, {"a"}) + Call("two", next, {"one:output:0"}),
                                 Ret("r", "two:output:0")));
  }
  functions.push_back(Function("f40", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0")));
  auto wide = MakeSession(Placeholder("x", "") + Call("top", "f0", {"x"}) + Library(functions));
  EXPECT_EQ(wide->Run({{"x", Floats({1}, {})}}, {"top"}).status().code(),
            absl::StatusCode::kResourceExhausted);
  // Each function calls the next one, too often.
  functions.clear();
  for (int i = 0; i < 300; ++i) {
    functions.push_back(Function(absl::StrCat("f", i), {"a"}, {"r"},
                                 Call("h", absl::StrCat("f", i + 1), {"a"}),
                                 Ret("r", "h:output:0")));
  }
  functions.push_back(Function("f300", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0")));
  const std::string library = Library(functions);
  auto deep = MakeSession(Placeholder("x", "") + Call("top", "f0", {"x"}) +
                          Call("middle", "f100", {"x"}) + library);
  EXPECT_THAT(std::string(deep->Run({{"x", Floats({1}, {})}}, {"top"}).status().message()),
              HasSubstr("nested more than 256 deep"));
  const auto out = deep->Run({{"x", Floats({1}, {})}}, {"middle"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-1));
}

TEST(Functions, AttributesOfTheCallReachTheBody) {
  const std::string generic =
      "function { signature { name: 'twice' input_arg { name: 'a' type_attr: 'T' } output_arg { "
      "name: 'r' type_attr: 'T' } attr { name: 'T' type: 'type' } }\n"
      "node_def { name: 'sum' op: 'AddV2' input: 'a' input: 'a' attr { key: 'T' value { "
      "placeholder: 'T' } } } ret { key: 'r' value: 'sum:z:0' } }\n"
      "function { signature { name: 'through' input_arg { name: 'a' type_attr: 'T' } output_arg { "
      "name: 'r' type_attr: 'T' } attr { name: 'T' type: 'type' } }\n"
      "node_def { name: 'h' op: 'PartitionedCall' input: 'a' "
      "attr { key: 'Tin' value { list { type: DT_INT32 } } } "
      "attr { key: 'Tout' value { list { type: DT_INT32 } } } "
      "attr { key: 'f' value { func { name: 'twice' attr { key: 'T' value { placeholder: 'T' } } } "
      "} } } ret { key: 'r' value: 'h:output:0' } }\n";
  auto session =
      MakeSession(Const("i", "DT_INT32", "tensor_shape {} int_val: 21") + Placeholder("x", "") +
                  Node("by_name", "twice", {"x"}) +
                  Node("nested", "through", {"i"}, "", "DT_INT32") + "library { " + generic + " }");
  const auto out = session->Run({{"x", Floats({4}, {})}}, {"by_name", "nested"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(8));
  EXPECT_EQ(*(*out)[1].flat<int32_t>(), 42);
}

TEST(Functions, InputsOfABodysNodesMustHaveTheirTypes) {
  auto session = MakeSession(
      Placeholder("x", "") + Call("wide", "f", {"x"}) + Call("variable", "g", {"x"}) +
      Library({Function("f", {"a"}, {"r"},
                        Node("double", "Neg", {"a"}, "", "DT_DOUBLE") +
                            Node("n", "Cast", {"double:y:0"},
                                 Type("SrcT", "DT_DOUBLE") + Type("DstT", "DT_FLOAT"), ""),
                        Ret("r", "n:y:0")),
               Function("g", {"a"}, {"r"}, Node("n", "AssignAdd", {"a", "a"}),
                        Ret("r", "n:output_ref:0"))}));
  const auto run = [&](const char* fetch) {
    const auto out = session->Run({{"x", Floats({1}, {})}}, {fetch});
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << out.status();
    return std::string(out.status().message());
  };
  EXPECT_THAT(run("wide"), AllOf(HasSubstr("node 'double' (Neg) of function 'f'"),
                                 HasSubstr("input 0 is DT_FLOAT where its op takes DT_DOUBLE")));
  EXPECT_THAT(run("variable"), HasSubstr("input 0 is DT_FLOAT where its op takes DT_FLOAT_REF"));
}

TEST(Functions, OutputsOfACallMayBeFed) {
  const std::string library =
      Library({Function("f", {"a"}, {"r", "s"}, Node("n", "Neg", {"a"}) + Node("m", "Exp", {"a"}),
                        Ret("r", "n:y:0") + Ret("s", "m:y:0"))});
  auto session =
      MakeSession(Placeholder("x", "") + Call("top", "f", {"x"}, 2) +
                  Node("u", "Identity", {"top"}) + Node("v", "Identity", {"top:1"}) + library);
  const auto part = session->Run({{"x", Floats({0}, {})}, {"top:0", Floats({9}, {})}}, {"u", "v"});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_THAT(Values((*part)[0]), ElementsAre(9));
  EXPECT_THAT(Values((*part)[1]), ElementsAre(1));
  const auto whole = session->Run({{"top:0", Floats({9}, {})}}, {"u"});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_THAT(Values((*whole)[0]), ElementsAre(9));
}

// 3 flows into the square of 3; the rest is an op that has no gradient.
TEST(Functions, GradientsOfFunctions) {
  const auto graph = [](std::string_view body, std::string_view result) {
    return Placeholder("x", "") +
           Node("g", "SymbolicGradient", {"x", "x"},
                Types("Tin", {"DT_FLOAT", "DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"}) +
                    Func("f", "f"),
                "") +
           Library({Function("f", {"a"}, {"r"}, std::string(body), Ret("r", std::string(result)))});
  };
  const auto out =
      MakeSession(graph(Node("n", "Square", {"a"}), "n:y:0"))->Run({{"x", Floats({3}, {})}}, {"g"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(18));
  const auto odd = MakeSession(graph(Node("n", "TruncateMod", {"a", "a"}), "n:z:0"))
                       ->Run({{"x", Floats({3}, {})}}, {"g"});
  EXPECT_THAT(std::string(odd.status().message()),
              HasSubstr("No gradient defined for op: TruncateMod"));
}

// A plug-in's kernel is told which pass it works for.
TEST(Loops, CountTheirPasses) {
  static std::vector<std::pair<uint64_t, int64_t>> seen;
  auto kernel = std::make_shared<KernelDef>();
  kernel->op = "Neg";
  kernel->device_type = "CPU";
  kernel->label = "counts";
  kernel->plugin = "control_flow_test";
  kernel->fns.compute = [](void* kernel, TF_OpKernelContext* context) {
    testing::PassOn(kernel, context);
    seen.emplace_back(TF_GetFrameId(context), TF_GetIterId(context));
  };
  KernelRegistry::Global().Register(std::move(kernel));
  constexpr char kCounts[] = "attr { key: '_kernel' value { s: 'counts' } }";
  auto session = MakeSession(
      Numbers() + Loop("a_", Node("a_body", "Neg", {"a_switch_x:1"}, kCounts), "zero", "n", "n") +
      Loop("b_", Node("b_body", "Neg", {"b_switch_x:1"}, kCounts), "zero", "a_exit_x", "n") +
      Node("last", "Neg", {"b_exit_x"}, kCounts));
  for (int run = 0; run < 2; ++run) {
    seen.clear();
    const auto out = session->Run({{"n", Floats({2}, {})}}, {"last"});
    ASSERT_TRUE(out.ok()) << out.status();
    ASSERT_EQ(seen.size(), 5);
    for (const size_t i : {0, 1, 2, 3}) EXPECT_EQ(seen[i].second, i % 2);
    EXPECT_EQ(seen[0].first, seen[1].first);
    EXPECT_EQ(seen[2].first, seen[3].first);
    EXPECT_NE(seen[0].first, seen[2].first);
    EXPECT_NE(seen[0].first, 0);
    EXPECT_EQ(seen[4], std::make_pair(uint64_t{0}, int64_t{0}));
  }
  session.reset();
  KernelRegistry::Global().RemovePlugin("control_flow_test");
}

TEST(Loops, RunAMillionPassesInPlace) {
  for (const int opt_level : {0, 1}) {
    auto session = MakeSession(
        Numbers() + Loop("w_", Node("w_body", "Sub", {"w_switch_x:1", "one"}), "zero", "zero", "n"),
        opt_level);
    auto e = session->Prepare({"n"}, {"w_exit_i", "w_exit_x"});
    ASSERT_TRUE(e.ok()) << e.status();
    for (const float n : {1e6f, 0.0f, 1.0f}) {
      const auto out = session->Run(*e, {Floats({n}, {})});
      ASSERT_TRUE(out.ok()) << out.status();
      EXPECT_THAT(Values((*out)[0]), ElementsAre(n));
      EXPECT_THAT(Values((*out)[1]), ElementsAre(-n));
    }
    EXPECT_LE(MemoryOf(**e).arena_bytes, 256);
  }
}

TEST(Loops, ResultsOfADeadLoopAreDead) {
  auto session = MakeSession(
      Numbers() + Placeholder("flag", "", "DT_BOOL") + Node("gate", "Switch", {"zero", "flag"}) +
      Loop("w_", Node("w_body", "AddV2", {"w_switch_x:1", "one"}), "zero", "gate:1", "n") +
      Node("joined", "Merge", {"gate", "w_exit_x"}, "attr { key: 'N' value { i: 2 } }"));
  for (const bool flag : {true, false}) {
    const auto out = session->Run({{"n", Floats({5}, {})}, {"flag", Bool(flag)}}, {"joined"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(flag ? 5 : 0));
  }
  const auto dead = session->Run({{"n", Floats({5}, {})}, {"flag", Bool(false)}}, {"w_exit_x"});
  EXPECT_EQ(dead.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Loops, ErrorsInAPassNameTheNode) {
  // Fails when the shape that grows no longer fits.
  auto session = MakeSession(
      Numbers() + Const("axis", "DT_INT32", "tensor_shape {} int_val: 0") +
      Const("row", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 0") +
      Const("three", "DT_FLOAT", "tensor_shape { dim { size: 3 } } float_val: 0") +
      Loop(
          "w_",
          Node(
              "e_axis", "Enter", {"axis"},
              "attr { key: 'frame_name' value { s: 'w_frame' } } attr { key: 'is_constant' value { "
              "b: true } }",
              "DT_INT32") +
              Node("e_three", "Enter", {"three"},
                   "attr { key: 'frame_name' value { s: 'w_frame' } } attr { key: 'is_constant' "
                   "value "
                   "{ b: true } }") +
              Node("grown", "ConcatV2", {"w_switch_x:1", "w_switch_x:1", "e_axis"},
                   "attr { key: 'N' value { i: 2 } } attr { key: 'Tidx' value { type: DT_INT32 } "
                   "}") +
              Node("sum", "AddV2", {"grown", "e_three"}) +
              Node("w_body", "Identity", {"grown", "^sum"}),
          "zero", "row", "n"));
  const auto out = session->Run({{"n", Floats({9}, {})}}, {"w_exit_x"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("node 'sum' (AddV2)"));
  const auto none = session->Run({{"n", Floats({0}, {})}}, {"w_exit_x"});
  ASSERT_TRUE(none.ok()) << none.status();
}

TEST(Loops, ValuesOfOtherLoopsAreRefused) {
  auto session = MakeSession(
      Numbers() +
      Loop("a_", Node("a_body", "AddV2", {"a_switch_x:1", "a_one"}), "zero", "zero", "n") +
      Loop("b_", Node("b_body", "AddV2", {"b_switch_x:1", "a_one"}), "zero", "zero", "n"));
  const auto out = session->Run({{"n", Floats({2}, {})}}, {"b_exit_x"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(out.status().message()),
              AllOf(HasSubstr("'b_body' (AddV2)"), HasSubstr("different loops")));
}

TEST(Loops, AMergeOutsideOfLoopsTakesAFedNextIteration) {
  const std::string merge =
      Placeholder("x", "") + Placeholder("skip", "", "DT_BOOL") +
      Node("switch", "Switch", {"x", "skip"}) + Node("next", "NextIteration", {"merge"}) +
      Node("merge", "Merge", {"switch", "next"}, "attr { key: 'N' value { i: 2 } }");
  const std::string loop =
      Loop("w_", Node("w_body", "AddV2", {"w_switch_x:1", "w_one"}), "zero", "zero", "n");
  for (const std::string& more : {std::string(), loop}) {
    const auto session = MakeSession(Numbers() + merge + more);
    const std::string other = more.empty() ? "zero" : "w_exit_x";
    for (const bool skip : {false, true}) {
      const auto out = session->Run({{"x", Floats({2}, {})},
                                     {"skip", Bool(skip)},
                                     {"next", Floats({3}, {})},
                                     {"n", Floats({4}, {})}},
                                    {"merge", other});
      ASSERT_TRUE(out.ok()) << out.status();
      EXPECT_THAT(Values((*out)[0]), ElementsAre(skip ? 3 : 2));
      EXPECT_THAT(Values((*out)[1]), ElementsAre(more.empty() ? 0 : 4));
    }
    const auto not_fed =
        session->Run({{"x", Floats({2}, {})}, {"skip", Bool(false)}}, {"merge"}).status();
    EXPECT_EQ(not_fed.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(not_fed.message()),
                HasSubstr("'next' (NextIteration): it is in no loop"));
  }
}

// Adds up the numbers of a For.
TEST(Loops, ForCountsAsFarAsTheLimit) {
  struct Case {
    int32_t start, limit, delta;
    std::optional<float> sum;
  };
  const Case cases[] = {
      {0, 5, 1, 10},  {0, 5, 2, 6},  {5, 0, -1, 15},
      {5, -1, -4, 6}, {3, 3, 1, 0},  {3, 3, 0, 0},
      {0, 5, -1, {}}, {0, 5, 0, {}}, {2147483640, 2147483647, 4, 2147483640.f + 2147483644.f}};
  const std::string library =
      "library { function { signature { name: 'sum' input_arg { name: 'i' type: DT_INT32 } "
      "input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }\n"
      "node_def { name: 'f' op: 'Cast' input: 'i' attr { key: 'SrcT' value { type: DT_INT32 } } "
      "attr { key: 'DstT' value { type: DT_FLOAT } } }\n"
      "node_def { name: 'a' op: 'AddV2' input: 'x' input: 'f:y:0' attr { key: 'T' value { type: "
      "DT_FLOAT } } } ret { key: 'r' value: 'a:z:0' } } }";
  for (const Case& c : cases) {
    const auto number = [](std::string_view name, int32_t v) {
      return Const(name, "DT_INT32", absl::StrCat("tensor_shape {} int_val: ", v));
    };
    auto session =
        MakeSession(number("start", c.start) + number("limit", c.limit) + number("delta", c.delta) +
                    Const("zero", "DT_FLOAT", "tensor_shape {} float_val: 0") +
                    Node("loop", "For", {"start", "limit", "delta", "zero"},
                         Types("T", {"DT_FLOAT"}) + Func("body", "sum"), "") +
                    library);
    const auto out = session->Run({}, {"loop"});
    const std::string name = absl::StrCat(c.start, " to ", c.limit, " by ", c.delta);
    if (c.sum.has_value()) {
      ASSERT_TRUE(out.ok()) << name << ": " << out.status();
      EXPECT_EQ(*(*out)[0].flat<float>(), *c.sum) << name;
    } else {
      EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << name;
    }
  }
}

TEST(Loops, RunOnceWithoutVariables) {
  auto session =
      MakeSession(Placeholder("x", "") +
                  Node("e", "Enter", {"x"}, "attr { key: 'frame_name' value { s: 'f' } }") +
                  Node("n", "Neg", {"e"}) + Node("y", "Exit", {"n"}));
  const auto out = session->Run({{"x", Floats({3}, {})}}, {"y"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-3));
}

TEST(Branches, AreJumpedOverAsAWhole) {
  std::string text = Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL") +
                     Node("s", "Switch", {"x", "flag"}) + Node("t0", "Neg", {"s:1"});
  for (int i = 1; i < 5; ++i) text += Node(absl::StrCat("t", i), "Neg", {absl::StrCat("t", i - 1)});
  auto session = MakeSession(text + Node("f", "Exp", {"s"}) +
                             Node("m", "Merge", {"f", "t4"}, "attr { key: 'N' value { i: 2 } }") +
                             Node("out", "Neg", {"m"}));
  auto e = session->Prepare({"x", "flag"}, {"out"});
  ASSERT_TRUE(e.ok()) << e.status();
  for (const bool flag : {true, false, true}) {
    const auto out = session->Run(*e, {Floats({0}, {}), Bool(flag)});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(flag ? 0 : -1));
  }
  EXPECT_THAT(PlanText(**e), HasSubstr("steps 5 to 10 if alive"));
}

// In whatever order a body lists them.
TEST(Branches, ReadWhatOtherBranchesGave) {
  const auto branch = [](std::string_view name, std::string_view from) {
    return testing::Op(name, "StatelessIf", {"a", std::string(from)},
                       Type("Tcond", "DT_FLOAT") + Types("Tin", {"DT_FLOAT"}) +
                           Types("Tout", {"DT_FLOAT"}) + Func("then_branch", "neg") +
                           Func("else_branch", "exp"));
  };
  for (const int level : {0, 1}) {
    auto session = MakeSession(
        Placeholder("x", "") + Call("y", "both", {"x"}) +
            Library({Function("both", {"a"}, {"r"},
                              branch("second", "first:output:0") + branch("first", "a"),
                              Ret("r", "second:output:0")),
                     Function("neg", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0")),
                     Function("exp", {"a"}, {"r"}, Node("n", "Exp", {"a"}), Ret("r", "n:y:0"))}),
        level);
    const auto out = session->Run({{"x", Floats({3}, {})}}, {"y"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(3));
  }
}

// Each decided by a copy of the copy before: looking for what they copy one by one would take time
// with the square of their number.
// Each Switch lies on the true side of the one before. x goes in as far as the Switches take it and
// comes out negative, each Merge on the way adding what the Switch's own side has added.
TEST(Branches, NestAsDeeplyAsTheyLike) {
  constexpr int kDeep = 200;  // deeper than plans jump over branches as a whole
  std::string text =
      Placeholder("x", "") + Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1");
  std::string in = "x";
  for (int k = 0; k < kDeep; ++k) {
    const std::string p = absl::StrCat("p", k), s = absl::StrCat("s", k), v = absl::StrCat("v", k);
    text += Placeholder(p, "", "DT_BOOL") + Node(s, "Switch", {in, p}) +
            Node(v, "AddV2", {s + ":1", "one"}) + Node(absl::StrCat("f", k), "Neg", {s});
    in = v;
  }
  for (int k = kDeep - 1; k >= 0; --k) {
    const std::string m = absl::StrCat("m", k), n = absl::StrCat("n", k);
    text += Node(m, "Merge", {in, absl::StrCat("f", k)}, "attr { key: 'N' value { i: 2 } }") +
            Node(n, "AddV2", {m, "one"});
    in = n;
  }
  auto session = MakeSession(text);
  for (const int taken : {0, 1, 62, 63, 64, 65, 127, 128, 129, kDeep - 1, kDeep}) {
    std::vector<Session::NamedTensor> feeds = {{"x", Floats({5}, {})}};
    for (int k = 0; k < kDeep; ++k) feeds.push_back({absl::StrCat("p", k), Bool(k < taken)});
    const auto out = session->Run(feeds, {"n0"});
    ASSERT_TRUE(out.ok()) << out.status();
    const int inside = taken == kDeep ? 5 + kDeep : 1 - (5 + taken);
    EXPECT_THAT(Values((*out)[0]), ElementsAre(static_cast<float>(inside + taken))) << taken;
  }
}

TEST(Branches, AreDecidedByCopiesOfCopies) {
  constexpr int kBranches = 20000;
  Graph graph = testing::Parse(Placeholder("x", "") + Placeholder("flag", "", "DT_BOOL"));
  const auto add = [&](std::string name, const char* op, std::vector<Output> inputs, DataType type,
                       int count = 0) {
    std::vector<Graph::NewAttr> attrs = {{"T", attr::Type(type)}};
    if (count > 0) attrs.push_back({"N", attr::Int(count)});
    return *graph.AddNode(name, op, inputs, std::move(attrs));
  };
  Output value{graph.FindNode("x"), 0}, flag{graph.FindNode("flag"), 0};
  for (int i = 0; i < kBranches; ++i) {
    flag = {add(absl::StrCat("flag", i), "Identity", {flag}, DataType::kBool), 0};
    const NodeId branch = add(absl::StrCat("switch", i), "Switch", {value, flag}, DataType::kFloat);
    const NodeId negative = add(absl::StrCat("neg", i), "Neg", {{branch, 1}}, DataType::kFloat);
    value = {
        add(absl::StrCat("merge", i), "Merge", {{branch, 0}, {negative, 0}}, DataType::kFloat, 2),
        0};
  }
  SessionOptions options;
  options.opt_level = 0;
  options.threads = 1;
  auto session = Session::Create(std::move(graph), {}, options);
  ASSERT_TRUE(session.ok()) << session.status();
  const std::string last = absl::StrCat("merge", kBranches - 1);
  const auto out = (*session)->Run({{"x", Floats({3}, {})}, {"flag", Bool(true)}}, {last});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(3));
}

}  // namespace
}  // namespace tenon
