// Where a program made nodes, and what becomes of that when passes fuse them.
#include "graph/ir/node_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// b and c are made of a, d of both.
Graph Parsed() {
  return testing::Parse(R"(
      node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             experimental_debug_info { original_node_names: 'a' original_func_names: 't.cc:1' } }
      node { name: 'b' op: 'Neg' input: 'a' attr { key: 'T' value { type: DT_FLOAT } }
             experimental_debug_info { original_node_names: 'b' original_func_names: 't.cc:2' } }
      node { name: 'c' op: 'Exp' input: 'b' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'd' op: 'Tanh' input: 'c' attr { key: 'T' value { type: DT_FLOAT } }
             experimental_debug_info { original_func_names: 't.cc:4'
                                       original_func_names: 't.cc:4' } })");
}

TEST(NodePlaces, AreReadFromDebugInfo) {
  const Graph graph = Parsed();
  EXPECT_TRUE(HasPlaces(graph));
  EXPECT_THAT(PlacesOf(graph, graph.FindNode("b")), ElementsAre("t.cc:2"));
  EXPECT_THAT(PlacesOf(graph, graph.FindNode("c")), IsEmpty());
  EXPECT_THAT(PlacesOf(graph, graph.FindNode("d")), ElementsAre("t.cc:4"));
  EXPECT_FALSE(HasPlaces(testing::Parse("node { name: 'n' op: 'NoOp' }")));
}

TEST(NodePlaces, ANodeGetsThoseOfTheNodesThatItTookIn) {
  const Graph before = Parsed();
  Graph after = before;
  const NodeId d = after.FindNode("d"), a = after.FindNode("a");
  after.BecomeOp(d, "Sigmoid", {{"T", attr::Type(DataType::kFloat)}});
  const Output from{a, 0};
  after.SetInputs(d, {&from, 1}, {});
  after.RemoveNode(after.FindNode("c"));
  after.RemoveNode(after.FindNode("b"));
  CarryPlaces(before, after);
  EXPECT_EQ(PlacesText(after, d), "t.cc:4, t.cc:2");
  EXPECT_EQ(PlacesText(after, a), "t.cc:1");
}

TEST(NodePlaces, ACopyHasThoseOfItsOriginal) {
  Graph graph = Parsed();
  const NodeId b = graph.FindNode("b"), c = graph.FindNode("c"), d = graph.FindNode("d");
  CopyDebugInfo(graph, b, graph, d);
  EXPECT_EQ(PlacesText(graph, d), "t.cc:2");
  CopyDebugInfo(graph, c, graph, d);
  EXPECT_EQ(PlacesText(graph, d), "t.cc:2");
}

}  // namespace
}  // namespace tenon
