// Reachability from the reference variables of a graph along data edges, through ops that give
// their input's memory as their output. In a graph where no node writes a variable there is nothing
// to find.

#include "grappler_lite/analysis/written_memory.h"

#include <algorithm>
#include <vector>

#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

bool AnyReference(const std::vector<ArgDef>& args) {
  return std::ranges::any_of(args, [](const ArgDef& arg) { return arg.is_ref; });
}

// Whether an output may be the memory of an input, or a part of it.
bool PassesMemoryOn(const Graph& g, NodeId n) {
  return g.facts(n).passes_memory || IsFunctional(g, n);
}

// The nodes that give references; none if no node writes what it is referred to.
std::vector<NodeId> WrittenVariables(const Graph& g) {
  std::vector<NodeId> variables;
  bool any_writer = false;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    const OpDef* op = g.alive(n) ? g.op(n) : nullptr;
    if (op == nullptr) continue;
    if (AnyReference(op->outputs)) variables.push_back(n);
    any_writer |= !any_writer && AnyReference(op->inputs) && !PassesMemoryOn(g, n) &&
                  op->name != "IsVariableInitialized";
  }
  return any_writer ? variables : std::vector<NodeId>();
}

}  // namespace

WrittenMemory::WrittenMemory(const Graph& graph) {
  // Most graphs have no reference variables, so the edges are not gathered before one is found.
  std::vector<NodeId> open = WrittenVariables(graph);
  if (open.empty()) return;
  const Fanouts fanouts(graph);
  nodes_.insert(open.begin(), open.end());
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    for (const Fanouts::Use& use : fanouts.of(n)) {
      if (use.port != kControlPort && graph.op(use.node) != nullptr &&
          PassesMemoryOn(graph, use.node) && nodes_.insert(use.node).second)
        open.push_back(use.node);
    }
  }
}

bool WrittenMemory::IsReadBy(const Graph& graph, NodeId n) const {
  return !empty() && std::ranges::any_of(graph.data_inputs(n), [this](const Output& in) {
    return nodes_.contains(in.node);
  });
}

}  // namespace tenon
