// Which nodes form cycles, and how a message names them.
#include "graph/ir/cycles.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Node i runs after the nodes of after[i].
Graph GraphOf(const std::vector<std::vector<NodeId>>& after) {
  Graph graph;
  for (size_t i = 0; i < after.size(); ++i)
    EXPECT_TRUE(graph.AddNode(absl::StrCat("n", i), "NoOp", {}, {}).ok());
  for (size_t i = 0; i < after.size(); ++i) {
    for (const NodeId from : after[i]) graph.AddControlInput(static_cast<NodeId>(i), from);
  }
  return graph;
}

TEST(Cycles, AGraphWithoutHasNone) {
  EXPECT_THAT(FindCycles(Graph()), IsEmpty());
  EXPECT_THAT(FindCycles(GraphOf({{}, {0}, {0, 1}, {2, 0}})), IsEmpty());
}

TEST(Cycles, AreSetsByTheirFirstNode) {
  // 0 <-> 5, 1 alone, 2 -> 3 -> 4 -> 2, of which 4 reads 0 too.
  const Graph graph = GraphOf({{5}, {0}, {4}, {2}, {3, 0}, {0}});
  EXPECT_THAT(FindCycles(graph), ElementsAre(ElementsAre(0, 5), ElementsAre(2, 3, 4)));
}

TEST(Cycles, RemovedNodesAreInNone) {
  Graph graph = GraphOf({{}, {}, {3}, {2}});
  graph.RemoveNode(0);
  EXPECT_THAT(FindCycles(graph), ElementsAre(ElementsAre(2, 3)));
}

TEST(Cycles, AShortestOneThroughTheFirstNodeIsNamed) {
  // 0 -> 1 -> 2 -> 3 -> 0, and the short way 2 -> 0.
  const Graph graph = GraphOf({{3, 2}, {0}, {1}, {2}});
  ASSERT_THAT(FindCycles(graph), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_EQ(DescribeCycle(graph, {0, 1, 2, 3}), "'n0' -> 'n1' -> 'n2' -> 'n0'");
}

TEST(Cycles, ALongOneIsCutShort) {
  std::vector<std::vector<NodeId>> after;
  std::vector<NodeId> all;
  for (NodeId n = 0; n < 1000; ++n) {
    after.push_back({n == 0 ? 999 : n - 1});
    all.push_back(n);
  }
  const Graph graph = GraphOf(after);
  EXPECT_THAT(FindCycles(graph), ElementsAre(all));
  EXPECT_EQ(DescribeCycle(graph, all),
            "'n0' -> 'n1' -> 'n2' -> 'n3' -> 'n4' -> 'n5' -> 'n6' -> 'n7' -> 'n8' -> 'n9' -> ... "
            "(1000 nodes) -> 'n0'");
}

}  // namespace
}  // namespace tenon
