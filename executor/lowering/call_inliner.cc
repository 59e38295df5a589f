#include "executor/lowering/call_inliner.h"

#include "executor/lowering/lowering.h"
#include "graph/base/status_macros.h"

namespace tenon {

LoweringInliner::LoweringInliner(absl::Span<const NodeId> nodes, const PipelineInput& input,
                                 CallSites& sites, InlineBudget& budget)
    : fetches_(input.fetches.begin(), input.fetches.end()),
      feeds_(input.feeds),
      sites_(&sites),
      budget_(&budget) {
  for (NodeId n : nodes) {
    if (!input.feeds.contains(n)) nodes_.push_back(n);
  }
  for (const Output& o : input.fetches) {
    fetched_.insert(o.node);
    if (!o.is_control()) read_.insert(o.node);
  }
}

std::unique_ptr<CallInliner> LoweringInliner::Fork() const {
  auto fork = std::make_unique<LoweringInliner>(*this);
  fork->own_ = std::make_shared<Own>(Own{*sites_, budget_->Fork()});
  fork->sites_ = &fork->own_->sites;
  fork->budget_ = &fork->own_->budget;
  return fork;
}

absl::StatusOr<bool> LoweringInliner::InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) {
  std::vector<std::string_view> devices;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n)
    devices.push_back(graph.alive(n) ? graph.device(n) : std::string_view());
  Lowering lowering(graph, *sites_, devices);
  lowering.InlineOnly({allow, *budget_, fetched_, read_});
  const auto ends = [this](const Output& o) { return feeds_.contains(o.node); };
  if (!fetches_.empty()) lowering.NoteRunning(fetches_, ends);
  const NodeId first_of_bodies = graph.num_node_ids();
  TENON_RETURN_IF_ERROR(lowering.Run(nodes_));
  // The pass may ask again. Then the calls that are left and those in the new bodies count.
  std::erase_if(nodes_, [&](NodeId n) { return !graph.alive(n); });
  for (NodeId n = first_of_bodies; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) nodes_.push_back(n);
  }
  return lowering.changed();
}

}  // namespace tenon
