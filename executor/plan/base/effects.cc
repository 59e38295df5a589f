#include "executor/plan/base/effects.h"

#include <algorithm>

#include "graph/op_defs/op_facts.h"

namespace tenon {

bool HasEffects(const Graph& graph, NodeId n) {
  const NodeKind& kind = graph.kind(n);
  // Nothing is known of an op without a definition.
  if (kind.op == nullptr || kind.op->is_stateful) return true;
  if (std::ranges::find(kind.types.inputs, DataType::kResource) != kind.types.inputs.end())
    return true;
  // A TensorArray of version 2 is known by a string.
  return std::ranges::any_of(kind.op->inputs, [](const ArgDef& arg) {
    return arg.type == DataType::kString && arg.name == "handle";
  });
}

bool GivesReference(const Graph& graph, NodeId n) {
  for (int port = 0; port < graph.num_outputs(n); ++port) {
    if (IsRef(graph.output_type({n, port}))) return true;
  }
  return false;
}

bool KeepsOrder(const Graph& graph, NodeId n) {
  return IsControlFlow(graph.facts(n)) || GivesReference(graph, n);
}

}  // namespace tenon
