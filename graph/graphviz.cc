#include "graph/graphviz.h"

#include <array>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graphviz.hpp>
#include <sstream>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/bgl_view.h"

namespace tenon {
namespace {

constexpr std::array<std::string_view, 6> kColours = {"#dbe9f6", "#fde0c5", "#d9f0d3",
                                                      "#efd6ee", "#fff5b8", "#e0e0e0"};

std::string Quoted(std::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

struct Alive {
  const Graph* graph = nullptr;
  bool operator()(NodeId n) const { return graph->alive(n); }
};

// Attributes of nodes, edges and the whole, as boost::write_graphviz asks for them.
class NodeWriter {
 public:
  explicit NodeWriter(const Graph& graph) : graph_(graph) {
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (graph.alive(n))
        colours_.try_emplace(graph.device(n), kColours[colours_.size() % kColours.size()]);
    }
  }
  void operator()(std::ostream& out, NodeId n) const {
    std::string label = absl::StrCat(graph_.name(n), "\n", graph_.op_name(n));
    if (!graph_.device(n).empty()) absl::StrAppend(&label, "\n", graph_.device(n));
    out << "[label=" << Quoted(label) << ", fillcolor=\"" << colours_.at(graph_.device(n)) << "\"]";
  }

 private:
  const Graph& graph_;
  absl::flat_hash_map<std::string_view, std::string_view> colours_;
};

struct EdgeWriter {
  const Graph& graph;
  void operator()(std::ostream& out, const GraphView::Edge& e) const {
    const Output from = graph.inputs(e.to)[e.input];
    if (from.is_control()) {
      out << "[style=dashed]";
    } else if (from.port < graph.num_outputs(from.node)) {
      const std::string port = from.port == 0 ? "" : absl::StrCat(from.port, ": ");
      out << "[label=\"" << port << DataTypeShortName(graph.output_type(from)) << "\"]";
    }
  }
};

struct WholeWriter {
  void operator()(std::ostream& out) const {
    out << "node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  }
};

}  // namespace

std::string WriteGraphviz(const Graph& graph) {
  const GraphView view(graph);
  const boost::filtered_graph<GraphView, boost::keep_all, Alive> live(view, boost::keep_all(),
                                                                      Alive{&graph});
  std::ostringstream out;
  boost::write_graphviz(out, live, NodeWriter(graph), EdgeWriter{graph}, WholeWriter(),
                        get(boost::vertex_index, view));
  return out.str();
}

}  // namespace tenon
