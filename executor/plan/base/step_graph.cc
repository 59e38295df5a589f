#include "executor/plan/base/step_graph.h"

namespace tenon {

StepGraph::StepGraph(const Graph& graph, absl::Span<const NodeId> order)
    : first_value(graph.num_node_ids(), -1), node_alive(graph.num_node_ids(), 0) {
  int32_t count = 0;
  for (NodeId n : order) {
    first_value[n] = count;
    count += graph.num_outputs(n);
  }
  values.resize(count);
  steps.reserve(order.size());  // pages that are never touched take no memory
  storages.reserve(count);
  args.reserve(3 * static_cast<size_t>(count));
  for (NodeId n : order) {
    for (int port = 0; port < graph.num_outputs(n); ++port) {
      PlanValue& v = values[first_value[n] + port];
      v.output = {n, port};
      v.dtype = graph.output_type(v.output);
      if (!IsRef(v.dtype)) continue;
      // A reference travels as a handle of the variable. A reader by value gets a step of its own
      // that reads the variable: Operands::ReadVariable.
      v.reference = true;
      v.dtype = DataType::kResource;
    }
  }
}

}  // namespace tenon
