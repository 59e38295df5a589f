// The stage Lowered: functions that the run calls are written out as plain nodes.
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/stages.h"
#include "executor/lowering/lowering.h"
#include "executor/state/fixed_variables.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

// The nodes that run and call functions, producers first. One node needs no order, and most graphs
// have none: then the graph is not sorted.
absl::StatusOr<std::vector<NodeId>> CallersOf(const Graph& graph, const RunSet& run) {
  std::vector<NodeId> callers;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && run.Runs(n) && IsFunctional(graph, n)) callers.push_back(n);
  }
  if (callers.size() < 2) return callers;
  TENON_ASSIGN_OR_RETURN(callers, OrderOf(graph, run));
  std::erase_if(callers, [&](NodeId n) { return !run.Runs(n) || !IsFunctional(graph, n); });
  return callers;
}

// By feed: a new Placeholder for each fed output of a node that is lowered, since the node itself
// goes. Other entries have kNoNode.
absl::StatusOr<std::vector<Output>> AddFedValues(Graph& graph, const Request& request,
                                                 absl::Span<const NodeId> callers) {
  const absl::flat_hash_set<NodeId> lowered(callers.begin(), callers.end());
  std::vector<Output> values(request.feeds.size());
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    const Output feed = request.feeds[i];
    if (!lowered.contains(feed.node)) continue;
    const DataType dtype = BaseType(graph.output_type(feed));
    TENON_ASSIGN_OR_RETURN(
        const NodeId fed,
        graph.AddNode(graph.UniqueName(absl::StrCat(graph.name(feed.node), "/fed")), "Placeholder",
                      {}, {{"dtype", attr::Type(dtype)}}));
    values[i] = {fed, 0};
  }
  return values;
}

absl::Status Lower(const CallerDevices& caller_devices, absl::Span<const NodeId> callers,
                   Graph& graph, Lowered& lowered) {
  Request& request = lowered.request;
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> fed_values,
                         AddFedValues(graph, request, callers));
  const absl::flat_hash_set<Output> fed(request.feeds.begin(), request.feeds.end());
  std::vector<std::string_view> devices(graph.num_node_ids());
  for (const NodeId n : callers) {
    const auto it = caller_devices.find(graph.name(n));
    if (it != caller_devices.end()) devices[n] = it->second;
  }
  Lowering lowering(graph, lowered.calls, devices);
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    if (fed_values[i].node == kNoNode) continue;
    lowering.Replace(request.feeds[i], fed_values[i]);
    request.feeds[i] = fed_values[i];
  }
  const auto ends = [&](const Output& o) { return !lowered.run.Runs(o.node) || fed.contains(o); };
  lowering.NoteRunning(request.fetches, ends);
  for (const Output& fetch : request.fetches) lowering.Note(fetch);
  TENON_RETURN_IF_ERROR(lowering.Run(callers));
  for (Output& fetch : request.fetches) fetch = lowering.Resolve(fetch);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Lowered> LowerFunctions(const Optimized& optimized, const CompileContext& context) {
  Lowered lowered{optimized.graph, optimized.request, optimized.calls, optimized.placement, {}};
  TENON_ASSIGN_OR_RETURN(lowered.run, FindRunSet(*optimized.graph, optimized.request));
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> callers,
                         CallersOf(*optimized.graph, lowered.run));
  if (callers.empty()) return lowered;
  auto graph = std::make_shared<Graph>(*optimized.graph);
  TENON_RETURN_IF_ERROR(Lower(optimized.caller_devices, callers, *graph, lowered));
  if (context.fixed != nullptr) TENON_RETURN_IF_ERROR(context.fixed->ReplaceReads(*graph));
  std::vector<NodePlacement> previous = *optimized.placement;
  for (const NodeId n : callers) previous[n] = NodePlacement();
  TENON_ASSIGN_OR_RETURN(std::vector<NodePlacement> placement,
                         PlaceNewNodes(*graph, std::move(previous), context));
  lowered.placement = std::make_shared<const std::vector<NodePlacement>>(std::move(placement));
  TENON_ASSIGN_OR_RETURN(lowered.run, FindRunSet(*graph, lowered.request));
  lowered.graph = std::move(graph);
  return lowered;
}

}  // namespace tenon
