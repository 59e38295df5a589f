// The last stage, Runnable: each node that runs has its place in the order, a device and a kernel.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "executor/compile/stages.h"
#include "executor/plan/base/call_order.h"
#include "executor/plan/base/device_order.h"
#include "executor/plan/base/free_order.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"

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

// The kernel of node n; null if the run does not compute the node, or the plan does without a
// kernel.
absl::StatusOr<const KernelDef*> FindKernel(const Runnable& runnable, NodeId n,
                                            const CompileContext& context) {
  const Graph& graph = *runnable.graph;
  if (!runnable.run.Runs(n) || graph.facts(n).in_plan) return nullptr;
  absl::StatusOr<const KernelDef*> kernel = context.kernels.Find(graph, n, *runnable.devices[n]);
  if (kernel.ok()) return kernel;
  absl::Status status = kernel.status();
  if (absl::IsUnimplemented(status) && (*runnable.placement)[n].reason == PlaceCode::kNoKernel) {
    const std::string text = NoKernelText(graph, n, context);
    status = NoteAnswer(absl::UnimplementedError(text), absl::StatusCode::kInvalidArgument, text);
  }
  return NodeError(graph, runnable.calls, n, status);
}

// Sorts the schedule as the session's options say. `calls`: the nodes with asynchronous kernels,
// which begin early in every order.
absl::Status SortNodes(Runnable& runnable, absl::Span<const NodeId> calls,
                       const CompileContext& context) {
  const Graph& graph = *runnable.graph;
  const std::vector<bool>& fed_only = runnable.run.fed_only;
  Schedule& schedule = runnable.schedule;
  const NodeOrder order = context.options.order;
  if (order == NodeOrder::kSeed)
    ShuffleNodes(graph, fed_only, context.options.order_seed, schedule);
  if (order == NodeOrder::kMemory) {
    std::vector<std::pair<NodeId, absl::Status>> errors;  // which the plan or the run finds again
    ShapeOptions options;
    options.errors = &errors;
    TENON_ASSIGN_OR_RETURN(const GraphShapes shapes, GraphShapes::Infer(graph, options));
    OrderByMemory(graph, fed_only, runnable.request.fetches, shapes, schedule);
  }
  BeginCallsEarly(graph, calls, fed_only, schedule);
  if (order == NodeOrder::kAuto || order == NodeOrder::kSpeed) {
    const int most_ahead = order == NodeOrder::kAuto ? kMostAhead : std::numeric_limits<int>::max();
    QueueDevicesFirst(graph, runnable.devices, context.host, fed_only, most_ahead, schedule);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Runnable> ScheduleNodes(Lowered lowered, const CompileContext& context) {
  Runnable runnable{std::move(lowered), {}, {}, {}};
  const Graph& graph = *runnable.graph;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, OrderOf(graph, runnable.run));
  TENON_ASSIGN_OR_RETURN(runnable.schedule, MakeSchedule(graph, order, runnable.run.fed_only));
  std::vector<NodeId> calls;
  runnable.devices.assign(graph.num_node_ids(), context.host);
  for (const NodeId n : order) {
    Device* device = (*runnable.placement)[n].device;
    if (device != nullptr) runnable.devices[n] = device;
    TENON_ASSIGN_OR_RETURN(const KernelDef* kernel, FindKernel(runnable, n, context));
    if (kernel != nullptr && kernel->fns.compute_async != nullptr) calls.push_back(n);
  }
  TENON_RETURN_IF_ERROR(SortNodes(runnable, calls, context));
  TENON_ASSIGN_OR_RETURN(runnable.feeds, DescribeFeeds(graph, runnable.calls, runnable.request));
  return runnable;
}

}  // namespace tenon
