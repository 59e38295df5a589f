// How many nodes functions become, counted before they are written out.
#include "executor/lowering/nodes_written.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Call;
using testing::Floats;
using testing::Func;
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

// f0 has one node, each next function two calls of the one before.
std::vector<std::string> Doubling(int levels) {
  std::vector<std::string> functions = {
      Function("f0", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0"))};
  for (int i = 1; i < levels; ++i) {
    const std::string before = absl::StrCat("f", i - 1);
    functions.push_back(Function(absl::StrCat("f", i), {"a"}, {"r"},
                                 Call("c", before, {"a"}) + Call("d", before, {"c:output:0"}),
                                 Ret("r", "d:output:0")));
  }
  return functions;
}

int64_t Count(const Graph& graph, std::string_view node) {
  const NodeId n = graph.FindNode(node);
  return NodesWritten(graph).Of(graph.op_name(n), graph.attrs(n).all());
}

TEST(NodesWritten, CountsCallsWithinCalls) {
  const auto graph = [](int levels) {
    return Parse(Placeholder("x", "") + Call("y", absl::StrCat("f", levels - 1), {"x"}) +
                 Library(Doubling(levels)));
  };
  EXPECT_EQ(Count(graph(1), "y"), 1);
  EXPECT_EQ(Count(graph(3), "y"), 2 + 2 * (2 + 2 * 1));
  EXPECT_EQ(Count(graph(100), "y"), NodesWritten::kMost);
  EXPECT_EQ(Count(graph(3), "x"), 0);
}

TEST(NodesWritten, CountsBranchesAndLoops) {
  const std::string binary =
      Type("Tcond", "DT_BOOL") + Types("Tin", {"DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"});
  const Graph graph =
      Parse(Placeholder("p", "", "DT_BOOL") + Placeholder("x", "") +
            Op("if", "StatelessIf", {"p", "x"},
               binary + Func("then_branch", "f0") + Func("else_branch", "f2")) +
            Op("case", "StatelessIf", {"p", "x"},
               binary + Func("then_branch", "again") + Func("else_branch", "f1")) +
            Library([] {
              std::vector<std::string> functions = Doubling(3);
              // One that calls itself has no end, and is refused elsewhere.
              functions.push_back(Function(
                  "again", {"a"}, {"r"},
                  Call("c", "again", {"a"}) + Node("n", "Neg", {"c:output:0"}), Ret("r", "n:y:0")));
              return functions;
            }()));
  EXPECT_EQ(Count(graph, "if"), 1 + 2 + 2 * 4);
  EXPECT_EQ(Count(graph, "case"), 2 + 4);
}

TEST(NodesWritten, WhatIsTooMuchIsRefusedBeforeItIsWritten) {
  auto session =
      MakeSession(Placeholder("x", "") + Call("y", "f99", {"x"}) + Library(Doubling(100)), 1);
  const auto out = session->Run({{"x", Floats({1}, {})}}, {"y"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(out.status().message(), HasSubstr("node 'y'"));
  EXPECT_THAT(out.status().message(), HasSubstr("more than 1000000 nodes"));
}

}  // namespace
}  // namespace tenon
