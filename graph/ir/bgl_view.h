// A read-only view of a Graph that Boost.Graph's algorithms take: a VertexListGraph, EdgeListGraph
// and BidirectionalGraph. Vertices are node ids from 0 on; removed ones stand there without edges.
// Edges go from producer to consumer, one per input, data and control alike; holes are left out.
// Include this in .cc files only: Boost's headers are heavy.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>

#include "graph/ir/graph.h"

namespace tenon {

// Whether edges from a NextIteration into a Merge are in the view. Without them a legal graph has
// no cycle.
enum class LoopEdges : uint8_t { kShow, kHide };

class GraphView {
 public:
  struct Edge {
    NodeId from = kNoNode;
    NodeId to = kNoNode;
    int32_t input = 0;  // index into inputs(to)
    friend bool operator==(const Edge&, const Edge&) = default;
  };

  // Time and memory O(nodes + edges). The graph must outlive the view and not be edited.
  explicit GraphView(const Graph& graph, LoopEdges loop_edges = LoopEdges::kShow);

  const Graph& graph() const { return *graph_; }
  NodeId size() const { return static_cast<NodeId>(out_begin_.size()) - 1; }
  std::span<const Edge> out(NodeId n) const { return Slice(out_, out_begin_, n); }
  std::span<const Edge> in(NodeId n) const { return Slice(in_, in_begin_, n); }
  std::span<const Edge> all() const { return in_; }

  // The names that boost::graph_traits asks for.
  using vertex_descriptor = NodeId;
  using edge_descriptor = Edge;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : boost::vertex_list_graph_tag,
                              boost::edge_list_graph_tag,
                              boost::bidirectional_graph_tag {};
  using vertex_iterator = boost::counting_iterator<NodeId>;
  using edge_iterator = const Edge*;
  using out_edge_iterator = const Edge*;
  using in_edge_iterator = const Edge*;
  using adjacency_iterator = void;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static NodeId null_vertex() { return kNoNode; }

 private:
  static std::span<const Edge> Slice(const std::vector<Edge>& edges,
                                     const std::vector<uint32_t>& begin, NodeId n) {
    return {edges.data() + begin[n], edges.data() + begin[n + 1]};
  }
  const Graph* graph_;
  std::vector<uint32_t> out_begin_, in_begin_;
  std::vector<Edge> out_, in_;
};

using GraphEdgeRange = std::pair<const GraphView::Edge*, const GraphView::Edge*>;
inline GraphEdgeRange ToRange(std::span<const GraphView::Edge> s) {
  return {s.data(), s.data() + s.size()};
}

inline std::pair<GraphView::vertex_iterator, GraphView::vertex_iterator> vertices(
    const GraphView& g) {
  return {GraphView::vertex_iterator(0), GraphView::vertex_iterator(g.size())};
}
inline std::size_t num_vertices(const GraphView& g) { return static_cast<std::size_t>(g.size()); }
inline GraphEdgeRange edges(const GraphView& g) { return ToRange(g.all()); }
inline std::size_t num_edges(const GraphView& g) { return g.all().size(); }
inline NodeId source(const GraphView::Edge& e, const GraphView&) { return e.from; }
inline NodeId target(const GraphView::Edge& e, const GraphView&) { return e.to; }
inline GraphEdgeRange out_edges(NodeId n, const GraphView& g) { return ToRange(g.out(n)); }
inline std::size_t out_degree(NodeId n, const GraphView& g) { return g.out(n).size(); }
inline GraphEdgeRange in_edges(NodeId n, const GraphView& g) { return ToRange(g.in(n)); }
inline std::size_t in_degree(NodeId n, const GraphView& g) { return g.in(n).size(); }
inline std::size_t degree(NodeId n, const GraphView& g) {
  return out_degree(n, g) + in_degree(n, g);
}

// Node ids are their own index.
inline boost::typed_identity_property_map<NodeId> get(boost::vertex_index_t, const GraphView&) {
  return {};
}
inline NodeId get(boost::vertex_index_t, const GraphView&, NodeId n) { return n; }

}  // namespace tenon

template <>
struct boost::property_map<tenon::GraphView, boost::vertex_index_t> {
  using type = boost::typed_identity_property_map<tenon::NodeId>;
  using const_type = type;
};
