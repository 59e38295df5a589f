// The entry point of executor/plan/: makes a Plan from a placed graph and the shapes of its feeds.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/run/plan.h"

namespace tenon {

// May be called from several threads at once: the stores and counts that inputs share are
// thread-safe. The caller owns the plan. Errors name the node.
absl::StatusOr<std::unique_ptr<Plan>> BuildPlan(const PlanInput& input);

}  // namespace tenon
