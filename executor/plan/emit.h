// The last stage of planning: turns a StepGraph, its schedule and its layout into a Plan.
#pragma once

#include <memory>

#include "executor/plan/base/plan_input.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/layout.h"
#include "executor/run/plan.h"

namespace tenon {

// Cannot fail. `layout` must be made from `graph` and `schedule`. Uses `graph` up: its resources,
// arguments, devices and copies move into the plan, and its steps learn where their inputs lie. The
// plan points to members of `input`: PlanInput says which of them must outlive it.
std::unique_ptr<Plan> Emit(const PlanInput& input, const StepSchedule& schedule, Layout layout,
                           StepGraph& graph);

}  // namespace tenon
