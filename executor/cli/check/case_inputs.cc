// Makes fed Placeholders of the constants of a case, as far as no shape depends on their values.

#include "executor/cli/check/case_inputs.h"

#include <algorithm>

#include "graph/op_defs/attr_value.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {
namespace {

// The nodes that the fetches need, and the loss of gradients, which is computed first; the fetched
// nodes included.
std::vector<NodeId> Reached(const CheckCase& c, const Graph& graph) {
  std::vector<NodeId> nodes;
  std::vector<bool> known(graph.num_node_ids());
  const auto add = [&](NodeId n) {
    if (n == kNoNode || known[n]) return;
    known[n] = true;
    nodes.push_back(n);
  };
  std::vector<std::string> fetches = c.fetches;
  if (c.gradients) fetches.push_back(c.gradients->loss);
  for (const std::string& fetch : fetches) {
    const absl::StatusOr<Output> output = graph.ParseOutput(fetch);
    add(output.ok() ? output->node : graph.FindNode(fetch));  // a node without outputs
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Output& input : graph.inputs(nodes[i])) add(input.node);
  }
  return nodes;
}

struct Candidate {
  NodeId node;
  Tensor value;
};

std::vector<Candidate> ConstantsOf(const std::vector<NodeId>& nodes, const Graph& graph) {
  std::vector<Candidate> constants;
  for (const NodeId n : nodes) {
    if (graph.op_name(n) != "Const") continue;
    // A fed node waits for nothing: one that stands behind another in a case must stay there.
    if (!graph.control_inputs(n).empty()) continue;
    absl::StatusOr<Tensor> value = graph.ConstValue(n);
    if (value.ok()) constants.push_back({n, *std::move(value)});
  }
  return constants;
}

void MakePlaceholder(const Candidate& constant, Graph& graph) {
  graph.BecomeOp(constant.node, "Placeholder",
                 {{"dtype", attr::Type(constant.value.dtype())},
                  {"shape", attr::Shape(PartialShape(constant.value.shape()))}});
}

// Whether the shapes of `nodes` are known equally well in both graphs.
bool SameShapes(const Graph& a, const Graph& b, const std::vector<NodeId>& nodes) {
  const absl::StatusOr<GraphShapes> of_a = GraphShapes::Infer(a), of_b = GraphShapes::Infer(b);
  if (!of_a.ok() || !of_b.ok()) return false;
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId n) {
    for (int i = 0; i < a.num_outputs(n); ++i) {
      if (!(of_a->shape({n, i}) == of_b->shape({n, i}))) return false;
    }
    return true;
  });
}

void KeepOnly(const std::vector<NodeId>& nodes, Graph& graph) {
  std::vector<bool> keep(graph.num_node_ids());
  for (const NodeId n : nodes) keep[n] = true;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !keep[n]) graph.RemoveNode(n);
  }
}

}  // namespace

CaseInputs FeedConstants(const CheckCase& c, Graph& graph) {
  CaseInputs inputs;
  const std::vector<NodeId> nodes = Reached(c, graph);
  KeepOnly(nodes, graph);
  if (c.error.has_value()) return inputs;
  for (Candidate& constant : ConstantsOf(nodes, graph)) {
    // On a copy: only the shapes of the whole graph show whether the constant may go.
    Graph fed = graph;
    MakePlaceholder(constant, fed);
    if (!SameShapes(graph, fed, nodes)) continue;
    graph = std::move(fed);
    inputs.feeds.emplace_back(graph.name(constant.node));
    inputs.values.push_back(std::move(constant.value));
  }
  return inputs;
}

}  // namespace tenon::cli
