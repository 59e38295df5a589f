// Small graphs that stand for large ones: the optimizer computes and writes out no more than its
// budgets allow, and says where it stopped.
#include "absl/strings/str_cat.h"
#include "executor/lowering/inline_budget.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/tensor/memory_bound.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Const;
using ::testing::Contains;
using testing::Function;
using testing::Library;
using testing::MakeSession;
using testing::Node;
using ::testing::Not;
using testing::Op;
using testing::Placeholder;
using testing::Ret;

constexpr int64_t kMaxGrowth = 10'000'000;

struct GrownGraph {
  int64_t constants = 0;  // their bytes
  std::vector<std::string> budgets;
};

GrownGraph Optimize(std::string graph, std::vector<std::string> fetches) {
  auto session = MakeSession(std::move(graph), 1);
  const auto e = session->Prepare({}, fetches);
  EXPECT_TRUE(e.ok()) << e.status();
  GrownGraph result;
  if (!e.ok()) return result;
  const Graph& g = OptimizedGraph(**e);
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (g.alive(n) && g.op_name(n) == "Const")
      result.constants += static_cast<int64_t>(HeldBytes(g.ConstValue(n).value()));
  }
  for (const PassReport& pass : OptimizerReport(**e).passes) {
    if (!pass.budget_spent.empty()) result.budgets.push_back(pass.budget_spent);
  }
  return result;
}

TEST(Growth, CountsTheTextOfStrings) {
  std::string graph = Const("j0", "DT_STRING", "tensor_shape { } string_val: 'abcdefgh'");
  for (int i = 1; i <= 40; ++i) {
    const std::string before = absl::StrCat("j", i - 1);
    graph += Op(absl::StrCat("j", i), "StringJoin", {before, before},
                "attr { key: 'N' value { i: 2 } } attr { key: 'separator' value { s: '' } }");
  }
  const GrownGraph result = Optimize(graph, {"j40"});
  EXPECT_LE(result.constants, kMaxGrowth);
  EXPECT_GT(result.constants, kMaxGrowth / 4);  // what fits is folded
  EXPECT_THAT(result.budgets, Contains("10000000 bytes of growth by all folds"));
}

TEST(Growth, IsRefusedBeforeWhatOnlyTheDataTellsIsComputed) {
  const std::string graph =
      Const("start", "DT_INT32", "tensor_shape { } int_val: 0") +
      Const("limit", "DT_INT32", "tensor_shape { } int_val: 2000000000") +
      Const("delta", "DT_INT32", "tensor_shape { } int_val: 1") +
      Op("ragged", "RaggedRange", {"start", "limit", "delta"},
         testing::Type("T", "DT_INT32") + testing::Type("Tsplits", "DT_INT64")) +
      Node("y", "Neg", {"ragged:1"}, "", "DT_INT32");
  const GrownGraph result = Optimize(graph, {"y"});
  EXPECT_LE(result.constants, 100);
  EXPECT_THAT(result.budgets, Contains("10000000 bytes of growth by one fold"));
}

// By the sizes of what is taken, not by a clock.
TEST(Growth, LongComputationsAreLeftToTheRun) {
  const auto product = [](std::string_view size) {
    return Const("a", "DT_FLOAT",
                 absl::StrCat("tensor_shape { dim { size: ", size, " } dim { size: ", size,
                              " } } float_val: 0.5")) +
           Const("axes", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: [0, 1]") +
           Node("p", "MatMul", {"a", "a"}) +
           Op("s", "Sum", {"p", "axes"},
              testing::Type("T", "DT_FLOAT") + testing::Type("Tidx", "DT_INT32")) +
           Node("y", "Neg", {"s"});
  };
  const std::string said = "4000000000 operations of one fold";
  EXPECT_THAT(Optimize(product("100"), {"y"}).budgets, Not(Contains(said)));
  EXPECT_THAT(Optimize(product("1500"), {"y"}).budgets, Contains(said));
  std::string matrices =
      Const("a", "DT_FLOAT", "tensor_shape { dim { size: 800 } dim { size: 800 } } float_val: 0.5");
  for (int i = 0; i < 3; ++i) {
    matrices += Op(absl::StrCat("d", i), "Svd", {"a"},
                   testing::Type("T", "DT_FLOAT") + "attr { key: 'compute_uv' value { b: true } }");
    matrices += Node(absl::StrCat("y", i), "Neg", {absl::StrCat("d", i)});
  }
  EXPECT_THAT(Optimize(matrices, {"y0", "y1", "y2"}).budgets, Contains(said));
}

TEST(Growth, IsCountedOverAllRounds) {
  std::string graph =
      Const("dims", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 1000000");
  std::vector<std::string> fetches;
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    graph += Const("c" + n, "DT_FLOAT", absl::StrCat("tensor_shape { } float_val: ", i + 1));
    graph += Op("f" + n, "Fill", {"dims", "c" + n},
                testing::Type("T", "DT_FLOAT") + testing::Type("index_type", "DT_INT32"));
    fetches.push_back("f" + n);
  }
  const GrownGraph result = Optimize(graph, fetches);
  EXPECT_GT(result.constants, 8'000'000);
  EXPECT_LE(result.constants, kMaxGrowth);
  EXPECT_THAT(result.budgets, Contains("10000000 bytes of growth by all folds"));
}

// f0 calls f1 twice, f1 calls f2 twice, ...
Graph DoublingFunctions(int count) {
  std::vector<std::string> functions;
  for (int i = 0; i < count; ++i) {
    const std::string callee = absl::StrCat("f", i + 1);
    const bool last = i + 1 == count;
    const std::string nodes =
        last ? Node("y", "Neg", {"a"})
             : testing::Call("g", callee, {"a"}) + testing::Call("h", callee, {"g:output:0"});
    functions.push_back(Function(absl::StrCat("f", i), {"a"}, {"r"}, nodes,
                                 Ret("r", last ? "y:y:0" : "h:output:0")));
  }
  return testing::Parse(Placeholder("x", "") + Library(functions));
}

bool Fits(InlineBudget& budget, const Graph& graph, std::string_view function, int max_depth) {
  FunctionBody body;
  return budget.Fits(graph, *graph.FindFunction(function), max_depth,
                     [&](const FunctionEntry& f) -> const FunctionBody& {
                       return body = ParseFunctionBody(graph, f);
                     });
}

TEST(InlineBudget, CallsAreCountedBeforeTheyAreWrittenOut) {
  const Graph graph = DoublingFunctions(40);
  InlineBudget budget;
  EXPECT_FALSE(Fits(budget, graph, "f0", 256));
  EXPECT_EQ(budget.spent(), "100000 nodes of functions");
  EXPECT_FALSE(Fits(budget, graph, "f20", 256));
  EXPECT_TRUE(Fits(budget, graph, "f30", 256));
  EXPECT_TRUE(Fits(budget, graph, "f30", 10));
  EXPECT_FALSE(Fits(budget, graph, "f30", 9));  // f30 to f39
}

TEST(InlineBudget, WhatIsInlinedIsTakenFromIt) {
  const Graph graph = DoublingFunctions(8);
  const FunctionEntry& function = *graph.FindFunction("f0");
  InlineBudget budget;
  int taken = 0;
  for (; taken < 100'000 && Fits(budget, graph, function.name, 256); ++taken) budget.Take(function);
  EXPECT_GT(taken, 100);
  EXPECT_LT(taken, 100'000);
}

TEST(InlineBudget, WhatCallsItselfNeverFits) {
  const Graph graph = testing::Parse(
      Placeholder("x", "") + Library({Function("f", {"a"}, {"r"}, testing::Call("g", "f", {"a"}),
                                               Ret("r", "g:output:0"))}));
  InlineBudget budget;
  EXPECT_FALSE(Fits(budget, graph, "f", 256));
  EXPECT_EQ(budget.spent(), "");  // no budget would do
}

}  // namespace
}  // namespace tenon
