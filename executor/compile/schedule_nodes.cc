// The last stage, Runnable: each node that runs has its place in the order, a device and a kernel.
#include <algorithm>
#include <utility>

#include "executor/compile/stages.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

std::string NoKernelText(const Graph& graph, NodeId n, const CompileContext& context) {
  std::vector<std::string_view> types;
  for (const Device* device : context.devices) {
    if (std::ranges::find(types, device->type()) == types.end()) types.push_back(device->type());
  }
  const NodeKind& kind = graph.kind(n);
  return context.kernels.registry().NoKernelText(graph.name(n), kind.op_name, kind.attrs, kind.op,
                                                 types);
}

absl::Status CheckKernel(const Runnable& runnable, NodeId n, const CompileContext& context) {
  const Graph& graph = *runnable.graph;
  if (!runnable.run.Runs(n) || IsPlanOp(graph.op_name(n))) return absl::OkStatus();
  absl::Status status = context.kernels.Find(graph, n, *runnable.devices[n]).status();
  if (absl::IsUnimplemented(status) && runnable.placement[n].reason == PlaceCode::kNoKernel)
    status = absl::UnimplementedError(NoKernelText(graph, n, context));
  return status.ok() ? status : NodeError(graph, runnable.calls, n, status);
}

}  // namespace

absl::StatusOr<Runnable> ScheduleNodes(Lowered lowered, const CompileContext& context) {
  Runnable runnable{std::move(lowered), {}, {}, {}};
  const Graph& graph = *runnable.graph;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, OrderOf(graph, runnable.run));
  TENON_ASSIGN_OR_RETURN(runnable.schedule, MakeSchedule(graph, order, runnable.run.fed_only));
  runnable.devices.assign(graph.num_node_ids(), context.host);
  for (const NodeId n : order) {
    Device* device = runnable.placement[n].device;
    if (device != nullptr) runnable.devices[n] = device;
    TENON_RETURN_IF_ERROR(CheckKernel(runnable, n, context));
  }
  TENON_ASSIGN_OR_RETURN(runnable.feeds, DescribeFeeds(graph, runnable.calls, runnable.request));
  return runnable;
}

}  // namespace tenon
