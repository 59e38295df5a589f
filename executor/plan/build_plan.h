// The door of this room: a placed graph and the shapes of its feeds become a Plan.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/run/plan.h"

namespace tenon {

// Thread-safe for different inputs; what inputs share (stores, counts) is thread-safe itself.
// Errors name the node.
absl::StatusOr<std::unique_ptr<Plan>> BuildPlan(const PlanInput& input);

}  // namespace tenon
