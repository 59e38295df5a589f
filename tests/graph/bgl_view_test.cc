// The graph as Boost.Graph sees it.
#include "graph/bgl_view.h"

#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/cycles.h"
#include "graph/graphviz.h"
#include "graph/io.h"
#include "gtest/gtest.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

BOOST_CONCEPT_ASSERT((boost::concepts::VertexListGraph<GraphView>));
BOOST_CONCEPT_ASSERT((boost::concepts::EdgeListGraph<GraphView>));
BOOST_CONCEPT_ASSERT((boost::concepts::BidirectionalGraph<GraphView>));

Graph Model(std::string_view name) {
  absl::StatusOr<Graph> graph =
      LoadGraph(testing::Golden(absl::StrCat("models/", name, "/graph.pb.xz")));
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

// Position of each node in the order, and that every edge of the view goes forward.
void ExpectOrder(const GraphView& view, const std::vector<NodeId>& order) {
  std::vector<int> position(view.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
  for (const GraphView::Edge& e : view.all()) {
    ASSERT_LT(position[e.from], position[e.to])
        << view.graph().name(e.from) << " -> " << view.graph().name(e.to);
  }
}

class BglView : public ::testing::TestWithParam<std::string> {};

TEST_P(BglView, AgreesWithTheGraph) {
  const Graph graph = Model(GetParam());
  const GraphView view(graph);
  const Fanouts fanouts(graph);
  size_t edges = 0;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    EXPECT_EQ(in_degree(n, view), graph.inputs(n).size());
    EXPECT_EQ(out_degree(n, view), fanouts.of(n).size());
    edges += graph.inputs(n).size();
  }
  EXPECT_EQ(num_edges(view), edges);
  EXPECT_EQ(num_vertices(view), static_cast<size_t>(graph.num_nodes()));
}

TEST_P(BglView, BothOrdersAreRight) {
  const Graph graph = Model(GetParam());
  const GraphView view(graph, LoopEdges::kHide);
  const absl::StatusOr<std::vector<NodeId>> ours = TopologicalOrder(graph);
  ASSERT_TRUE(ours.ok()) << ours.status();
  ExpectOrder(view, *ours);
  std::vector<NodeId> theirs;
  boost::topological_sort(view, std::back_inserter(theirs));
  std::reverse(theirs.begin(), theirs.end());
  ExpectOrder(view, theirs);
  EXPECT_TRUE(FindCycles(graph).empty());
}

INSTANTIATE_TEST_SUITE_P(Models, BglView,
                         ::testing::Values("mlp", "v1_control_flow", "lstm_lowered",
                                           "grappler_food", "wide_chain_10k"),
                         [](const auto& info) { return info.param; });

TEST(BglViewLoops, ShowOnlyWithTheirEdges) {
  const Graph graph = Model("v1_control_flow");
  const auto components = [](const GraphView& view) {
    std::vector<int> component(view.size());
    return boost::strong_components(
        view, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, view)));
  };
  EXPECT_EQ(components(GraphView(graph, LoopEdges::kHide)), graph.num_nodes());
  EXPECT_LT(components(GraphView(graph)), graph.num_nodes());
}

TEST(BglViewRemoved, NodesHaveNoEdges) {
  Graph graph = Model("mlp");
  NodeId last = graph.num_node_ids() - 1;
  while (graph.inputs(last).empty()) --last;
  graph.RemoveNode(last);
  const GraphView view(graph);
  EXPECT_EQ(in_degree(last, view), 0u);
  EXPECT_EQ(num_vertices(view), static_cast<size_t>(graph.num_node_ids()));
}

TEST(Graphviz, DrawsDevicesPortsAndControlEdges) {
  const absl::StatusOr<Imported> imported = ImportBytes(R"pb(
                                                          node {
                                                            name: "x"
                                                            op: "Placeholder"
                                                            attr {
                                                              key: "dtype"
                                                              value { type: DT_BOOL }
                                                            }
                                                          }
                                                          node {
                                                            name: "s"
                                                            op: "Switch"
                                                            input: "x"
                                                            input: "x"
                                                            device: "/CPU:0"
                                                            attr {
                                                              key: "T"
                                                              value { type: DT_BOOL }
                                                            }
                                                          }
                                                          node {
                                                            name: "y"
                                                            op: "Identity"
                                                            input: "s:1"
                                                            input: "^x"
                                                            attr {
                                                              key: "T"
                                                              value { type: DT_BOOL }
                                                            }
                                                          })pb",
                                                        "test");
  ASSERT_TRUE(imported.ok()) << imported.status();
  const std::string dot = WriteGraphviz(imported->graph);
  EXPECT_THAT(dot, HasSubstr("digraph G {"));
  EXPECT_THAT(dot, HasSubstr("1[label=\"s\nSwitch\n/CPU:0\""));
  EXPECT_THAT(dot, HasSubstr("1->2 [label=\"1: bool\"]"));
  EXPECT_THAT(dot, HasSubstr("0->2 [style=dashed]"));
  Graph graph = imported->graph;
  graph.RemoveNode(graph.FindNode("y"));
  EXPECT_THAT(WriteGraphviz(graph), Not(HasSubstr("Identity")));
}

}  // namespace
}  // namespace tenon
