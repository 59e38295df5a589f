// The input of planning.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/place/kernel_store.h"
#include "executor/plan/base/const_store.h"
#include "executor/plan/base/schedule.h"
#include "executor/run/plan.h"
#include "executor/run/shape_promises.h"
#include "executor/run/slow_steps.h"

namespace tenon {

// Borrows all of its members. Every object here must outlive the plan.
struct PlanInput {
  const Graph& graph;
  const CallSites& calls;
  const Schedule& schedule;           // the nodes that the fetches need, fed nodes too
  const std::vector<bool>& fed_only;  // by node id: only its fed outputs are needed
  absl::Span<Device* const> devices;  // by node id
  absl::Span<const Output> feeds;
  absl::Span<const FeedSpec> feed_specs;  // by feed: dtype and shape
  absl::Span<const Output> fetches;       // control port: run the node, fetch no value
  absl::Span<const std::string> fetch_names;
  Device* host;
  ConstStore& constants;
  KernelStore& kernels;
  const ShapePromises& promises;
  SessionState& session;
  LatePreparations& late;
  Workers& workers;
  double device_timeout_s;
};

}  // namespace tenon
