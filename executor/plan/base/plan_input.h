// The input of planning.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/place/kernel_store.h"
#include "executor/plan/base/const_store.h"
#include "executor/plan/base/inter_op.h"
#include "executor/plan/base/node_order.h"
#include "executor/plan/base/schedule.h"
#include "executor/run/plan.h"
#include "executor/run/shape_promises.h"
#include "executor/run/slow_steps.h"

namespace tenon {

class SessionState;  // plugin/kernels/session_state.h

// Borrows all of its members. A plan keeps pointers to `graph`, `calls`, the devices, `constants`,
// `kernels`, `session` and `late`, which must outlive it. All else must outlive the call only.
struct PlanInput {
  const Graph& graph;
  const CallSites& calls;             // the origin of inlined nodes, for errors
  const Schedule& schedule;           // the nodes that the fetches need, fed nodes too
  const std::vector<bool>& fed_only;  // by node id: only its fed outputs are needed
  absl::Span<Device* const> devices;  // by node id; never null for a node of the schedule
  absl::Span<const Output> feeds;
  absl::Span<const FeedSpec> feed_specs;      // by feed: dtype and shape
  absl::Span<const Output> fetches;           // control port: run the node, fetch no value
  absl::Span<const std::string> fetch_names;  // by fetch, for errors
  Device* host;
  // These three are of `graph`, and the plans of an executable share them.
  ConstStore& constants;
  KernelStore& kernels;
  const ShapePromises& promises;  // which shape functions the plan believes
  SessionState& session;
  LatePreparations& late;  // counts what runs of the plan prepare
  Workers& workers;        // for kernels that are computed or packed while planning
  InterOp inter_op;
  double device_timeout_s;  // seconds that the host waits for a copy of a constant to a device
  NodeOrder order = NodeOrder::kAuto;  // of tasks; that of nodes is `schedule`
  uint64_t order_seed = 0;             // of NodeOrder::kSeed
  int device_streams = 1;   // the most compute streams of a device, 1 to kMostComputeStreams
  bool keep_costs = false;  // the plan tells what its steps are expected to take, for reports
};

}  // namespace tenon
