// Where nodes of functions' bodies come from, and nodes that were inlined from them.
#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "grappler_lite/provenance/provenance.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Call;
using testing::Const;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Func;
using testing::Function;
using ::testing::IsEmpty;
using testing::Library;
using testing::Node;
using ::testing::Not;
using testing::Op;
using testing::Parse;
using testing::Placeholder;
using testing::Ret;
using ::testing::StartsWith;
using testing::Type;
using testing::Types;
using ::testing::UnorderedElementsAre;

constexpr char kNoInline[] = "attr { key: '_noinline' value { b: true } }";

std::string Scalar(std::string_view name, float value) {
  return Const(name, "DT_FLOAT", absl::StrCat("tensor_shape {} float_val: ", value));
}

// y = OP(a, b)
std::string Binary(std::string_view name, std::string_view op, std::string_view attrs = "") {
  return Function(name, {"a", "b"}, {"r"}, Node("n", op, {"a", "b"}), Ret("r", "n:z:0"), attrs);
}

struct Optimized {
  Provenance provenance;
  std::unique_ptr<Session> session;
  const Executable* executable = nullptr;

  const Graph& graph() const { return OptimizedGraph(*executable); }
  std::vector<std::string> OriginsOf(const std::string& node) const {
    return provenance.Of(node).origins;
  }
  std::vector<std::string> RewritesOf(const std::string& node) const {
    return provenance.Of(node).rewrites;
  }
  std::vector<std::string> WentTo(const std::string& node) const {
    return provenance.WhatBecameOf(node, graph());
  }
  // The first function that attribute `attr` of the node names.
  std::string CalleeOf(std::string_view node, std::string_view attr = "f") const {
    const NodeId n = graph().FindNode(node);
    if (n == kNoNode || graph().attr(n, attr) == nullptr) return "";
    return std::string(graph().attr(n, attr)->AsFunc().value_or(FuncAttr()).name);
  }
};

// Optimized for "y", with the passes named, or all.
std::unique_ptr<Optimized> OptimizedFor(std::string text, const std::vector<std::string>& feeds,
                                        const std::vector<std::string>& passes = {}) {
  auto result = std::make_unique<Optimized>();
  SessionOptions options;
  options.threads = 1;
  options.pipeline.observers = {&result->provenance};
  for (const std::string& pass : passes) options.pipeline.passes.push_back({pass, {}});
  auto session = Session::Create(Parse(std::move(text)), {}, options);
  EXPECT_TRUE(session.ok()) << session.status();
  result->session = *std::move(session);
  const auto executable = result->session->Prepare(feeds, {"y"});
  EXPECT_TRUE(executable.ok()) << executable.status();
  result->executable = *executable;
  return result;
}

TEST(BodyOrigins, InlinedNodesNameTheBodysNodes) {
  const auto run =
      OptimizedFor(Placeholder("x", "") + Call("call", "f", {"x"}) + Node("y", "Neg", {"call"}) +
                       Library({Function("f", {"a"}, {"r"},
                                         Node("exp", "Exp", {"a"}) + Op("inner", "g", {"exp:y:0"}),
                                         Ret("r", "inner:s:0")),
                                Function("g", {"b"}, {"s"}, Node("scope/tanh", "Tanh", {"b"}),
                                         Ret("s", "scope/tanh:y:0"))}),
                   {"x"});
  EXPECT_THAT(run->OriginsOf("call/exp"), ElementsAre("call", "f:exp"));
  EXPECT_THAT(run->OriginsOf("call/inner/scope/tanh"),
              ElementsAre("call", "f:inner", "g:scope/tanh"));
  EXPECT_THAT(run->RewritesOf("call/inner/scope/tanh"),
              Contains("function_optimization.inline_call"));
  EXPECT_THAT(run->OriginsOf("y"), ElementsAre("call", "y"));
  EXPECT_THAT(run->RewritesOf("y"), ElementsAre("function_optimization.inline_call"));
  EXPECT_THAT(run->WentTo("g:scope/tanh"), ElementsAre("call/inner/scope/tanh"));
  EXPECT_THAT(run->WentTo("f:inner"), ElementsAre("call/inner/scope/tanh"));
  EXPECT_THAT(run->provenance.EndOf("f:exp"), ElementsAre("function_optimization.inline_call"));
}

// A call that another one feeds does not come from it.
TEST(BodyOrigins, CallsInAChainKeepTheirNodesApart) {
  const auto run = OptimizedFor(
      Placeholder("x", "") + Call("one", "f", {"x"}) + Call("two", "f", {"one"}) +
          Node("y", "Neg", {"two"}) +
          Library({Function("f", {"a"}, {"r"}, Node("exp", "Exp", {"a"}), Ret("r", "exp:y:0"))}),
      {"x"});
  EXPECT_THAT(run->OriginsOf("one/exp"), ElementsAre("one", "f:exp"));
  EXPECT_THAT(run->OriginsOf("two/exp"), Not(Contains("one")));
  EXPECT_THAT(run->WentTo("f:exp"), UnorderedElementsAre("one/exp", "two/exp"));
}

// TensorFlow names what reads an If "if/Identity", which the branch's node would be too.
TEST(BodyOrigins, NamesThatWereTaken) {
  const auto run = OptimizedFor(
      Placeholder("x", "") + Call("call", "f", {"x"}) + Node("call/n", "Identity", {"call"}) +
          Node("y", "Neg", {"call/n"}) +
          Library(
              {Function("f", {"a"}, {"r"}, Node("n", "Identity", {"a"}), Ret("r", "n:output"))}),
      {"x"}, {"function_optimization"});
  EXPECT_THAT(run->OriginsOf("call/n_1"), ElementsAre("call", "f:n"));
  EXPECT_THAT(run->OriginsOf("call/n"), ElementsAre("call", "call/n"));
}

// Both branches have a node "n": the one that was chosen is the one whose ops are there.
TEST(BodyOrigins, OfBranchesTheOneThatWasChosen) {
  const std::string text =
      Placeholder("x", "") + Const("yes", "DT_BOOL", "tensor_shape {} bool_val: true") +
      Op("if", "StatelessIf", {"yes", "x", "x"},
         Type("Tcond", "DT_BOOL") + Types("Tin", {"DT_FLOAT", "DT_FLOAT"}) +
             Types("Tout", {"DT_FLOAT"}) + Func("then_branch", "plus") +
             Func("else_branch", "times")) +
      Node("y", "Neg", {"if"}) + Library({Binary("plus", "AddV2"), Binary("times", "Mul")});
  const auto run = OptimizedFor(text, {"x"});
  const std::vector<std::string> became = run->WentTo("plus:n");
  ASSERT_FALSE(became.empty());
  EXPECT_THAT(run->RewritesOf(became[0]), Contains("function_optimization.fold_if at if"));
  EXPECT_THAT(run->WentTo("times:n"), IsEmpty());
}

// What the branches call tells them apart, where their own nodes do not.
TEST(BodyOrigins, OfBranchesThatOnlyCall) {
  const auto branch = [](std::string_view name, std::string_view callee) {
    return Function(name, {"a", "b"}, {"r"},
                    Op("call", callee, {"a", "b"}) + Node("end", "Identity", {"call:r:0"}),
                    Ret("r", "end:output:0"));
  };
  const auto text = [&](std::string_view other) {
    return Placeholder("x", "") + Const("no", "DT_BOOL", "tensor_shape {} bool_val: false") +
           Op("if", "StatelessIf", {"no", "x", "x"},
              Type("Tcond", "DT_BOOL") + Types("Tin", {"DT_FLOAT", "DT_FLOAT"}) +
                  Types("Tout", {"DT_FLOAT"}) + Func("then_branch", "first") +
                  Func("else_branch", "second")) +
           Node("y", "Neg", {"if"}) +
           Library({branch("first", "plus"), branch("second", "times"), Binary("plus", other),
                    Binary("times", "Mul")});
  };
  const auto run = OptimizedFor(text("AddV2"), {"x"}, {"function_optimization"});
  EXPECT_THAT(run->OriginsOf("if/call/n"), ElementsAre("if", "second:call", "times:n"));
  EXPECT_THAT(run->OriginsOf("if/end"), ElementsAre("if", "second:end"));
  // Equal ones cannot be told apart: nothing is said.
  const auto equal = OptimizedFor(text("Mul"), {"x"}, {"function_optimization"});
  EXPECT_THAT(equal->OriginsOf("if/call/n"), Not(Contains("plus:n")));
  EXPECT_THAT(equal->OriginsOf("if/call/n"), Contains("if"));
}

TEST(BodyOrigins, EachBodyHasItsOwn) {
  const std::string body = Scalar("n", 2) + Scalar("c", 3) +
                           Node("fold", "Mul", {"n:output:0", "c:output:0"}) +
                           Node("m", "Mul", {"a", "fold:z:0"});
  const auto run =
      OptimizedFor(Placeholder("x", "") + Call("call", "f", {"x"}) + Node("n", "Exp", {"call"}) +
                       Node("y", "Neg", {"n"}) +
                       Library({Function("f", {"a"}, {"r"}, body, Ret("r", "m:z:0"), kNoInline)}),
                   {"x"});
  EXPECT_THAT(run->OriginsOf("f:fold"), ElementsAre("f:c", "f:fold", "f:n"));
  EXPECT_THAT(run->RewritesOf("f:fold"), Contains("constant_folding.fold at f:fold"));
  EXPECT_THAT(run->OriginsOf("f:m"), ElementsAre("f:m"));
  EXPECT_THAT(run->WentTo("f:c"), ElementsAre("f:fold"));
  EXPECT_THAT(run->provenance.EndOf("f:c"), Not(IsEmpty()));
  EXPECT_THAT(run->OriginsOf("n"), ElementsAre("n"));
  EXPECT_FALSE(run->provenance.KnowsBody("g"));
}

TEST(BodyOrigins, CopiesKnowWhatTheyWereMadeOf) {
  const auto run = OptimizedFor(
      Placeholder("x", "") + Scalar("two", 2) + Call("call", "f", {"x", "two"}, 1) +
          Node("y", "Neg", {"call"}) +
          Library({Function("f", {"a", "b"}, {"r"},
                            Node("n", "Mul", {"a", "b"}) + Node("m", "Sub", {"n:z:0", "b"}) +
                                Node("other", "Exp", {"m:z:0"}),
                            Ret("r", "other:y:0"), kNoInline)}),
      {"x"}, {"function_optimization", "model_pruning"});
  const std::string copy = run->CalleeOf("call");
  ASSERT_THAT(copy, StartsWith("f_specialized_"));
  const std::string push = "function_specialization.push_constants at call";
  EXPECT_THAT(run->OriginsOf(copy + ":other"), ElementsAre("f:other"));
  EXPECT_THAT(run->RewritesOf(copy + ":other"), Contains(push));
  EXPECT_THAT(run->OriginsOf(copy + ":b/value"), ElementsAre("two", "f:b"));
  EXPECT_THAT(run->OriginsOf(copy + ":n"), ElementsAre("f:b", "f:n"));
  EXPECT_THAT(run->WentTo("f:other"), ElementsAre(copy + ":other"));
  EXPECT_THAT(run->WentTo("two"), Contains(copy + ":b/value"));
  EXPECT_EQ(run->graph().FindFunction("f"), nullptr);
  EXPECT_THAT(run->provenance.EndOf("f:other"), Contains(push));
}

// What calls copies of a function finds it as it was before passes worked on it.
TEST(BodyOrigins, OfAFunctionThatIsOptimizedAndInlined) {
  const std::string twice =
      Function("twice", {"a"}, {"r"},
               Scalar("c", 2) + Scalar("d", 3) + Node("e", "Add", {"c:output:0", "d:output:0"}) +
                   Node("m", "Mul", {"a", "e:z:0"}),
               Ret("r", "m:z:0"), kNoInline);
  const std::string outer = Function(
      "outer", {"a"}, {"r"}, Op("inner", "twice", {"a"}) + Node("exp", "Exp", {"inner:r:0"}),
      Ret("r", "exp:y:0"), kNoInline);
  const auto run =
      OptimizedFor(Placeholder("x", "") + Call("t", "twice", {"x"}) + Call("o", "outer", {"t"}) +
                       Node("y", "Neg", {"o"}) + Library({twice, outer}),
                   {"x"});
  EXPECT_THAT(run->OriginsOf("twice:e"), ElementsAre("twice:c", "twice:d", "twice:e"));
  EXPECT_THAT(run->OriginsOf("outer:inner"), ElementsAre("outer:inner"));
}

// Notes of a body's passes are gone when their work is.
TEST(BodyOrigins, WhatIsDroppedLeavesNoStory) {
  const std::string body = Scalar("n", 2) + Scalar("c", 3) +
                           Node("fold", "Mul", {"n:output:0", "c:output:0"}) +
                           Node("m", "Mul", {"a", "fold:z:0"});
  const auto run =
      OptimizedFor(Placeholder("x", "") + Call("call", "f", {"x"}) + Node("y", "Neg", {"call"}) +
                       Library({Function("f", {"a"}, {"r"}, body, Ret("r", "m:z:0"), kNoInline)}),
                   {"x"});
  ASSERT_THAT(run->RewritesOf("f:fold"), Not(IsEmpty()));
  run->provenance.BodyDropped("g");
  EXPECT_THAT(run->RewritesOf("f:fold"), Not(IsEmpty()));
  run->provenance.BodyDropped("");
  EXPECT_THAT(run->OriginsOf("f:fold"), ElementsAre("f:fold"));
  EXPECT_THAT(run->RewritesOf("f:fold"), IsEmpty());
  EXPECT_THAT(run->provenance.EndOf("f:c"), IsEmpty());
}

}  // namespace
}  // namespace tenon
