// The entry point of executor/plan/: makes a Plan from a placed graph and the shapes of its feeds.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/run/plan.h"

namespace tenon {

// Makes a plan; computes constant nodes and creates the kernels of plug-ins on the way. The caller
// owns the plan, which keeps pointers to members of `input` (plan_input.h says which). Thread-safe:
// the inputs of plans that are built at one time may share `constants`, `kernels`, `promises`,
// `session`, `late` and `workers`.
//
// Returns no error of preparing or computing a CPU kernel in a branch or a loop: the run that
// reaches the node returns that error. The errors name a node, but for those of feeds and fetched
// values:
// * FAILED_PRECONDITION: a placeholder is needed and not fed.
// * INVALID_ARGUMENT: shapes, types or attributes do not fit.
// * UNIMPLEMENTED: a node has no kernel, a loop has a form that plans do not know, or a value
//   cannot lie in a device's memory.
// * RESOURCE_EXHAUSTED: memory for constants is short, or the values are too large for one arena.
// * DEADLINE_EXCEEDED: a copy of a constant to a device takes longer than device_timeout_s.
// * Errors of plug-ins, as their callbacks return them.
absl::StatusOr<std::unique_ptr<Plan>> BuildPlan(const PlanInput& input);

}  // namespace tenon
