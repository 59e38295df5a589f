#include "executor/lowering/call_inliner.h"

#include "executor/lowering/lowering.h"
#include "graph/status_macros.h"

namespace tenon {

LoweringInliner::LoweringInliner(absl::Span<const NodeId> nodes, const PipelineInput& input,
                                 CallSites& sites, InlineBudget& budget)
    : sites_(sites), budget_(budget) {
  for (NodeId n : nodes) {
    if (!input.feeds.contains(n)) nodes_.push_back(n);
  }
  for (const Output& o : input.fetches) fetched_.insert(o.node);
}

absl::StatusOr<bool> LoweringInliner::InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) {
  std::vector<std::string> devices;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n)
    devices.emplace_back(graph.alive(n) ? graph.device(n) : std::string_view());
  Lowering lowering(graph, sites_, devices);
  lowering.InlineOnly({allow, budget_, fetched_});
  const NodeId first_of_bodies = graph.num_node_ids();
  TENON_RETURN_IF_ERROR(lowering.Run(nodes_));
  // Another time, what is left and what the bodies brought may be calls.
  std::erase_if(nodes_, [&](NodeId n) { return !graph.alive(n); });
  for (NodeId n = first_of_bodies; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) nodes_.push_back(n);
  }
  return lowering.changed();
}

}  // namespace tenon
