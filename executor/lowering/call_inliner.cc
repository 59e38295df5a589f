#include "executor/lowering/call_inliner.h"

#include "executor/lowering/lowering.h"
#include "graph/status_macros.h"

namespace tenon {

absl::StatusOr<bool> LoweringInliner::InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) {
  std::vector<std::string> devices;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n)
    devices.emplace_back(graph.alive(n) ? graph.device(n) : std::string_view());
  Lowering lowering(graph, sites_, devices);
  lowering.InlineOnly({allow, fetched_});
  TENON_RETURN_IF_ERROR(lowering.Run(nodes_));
  return lowering.changed();
}

}  // namespace tenon
