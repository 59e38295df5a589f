// The last stage: a StepGraph, its schedule and its layout as the Plan that runs.
#pragma once

#include <memory>

#include "executor/plan/base/plan_input.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/layout.h"
#include "executor/run/plan.h"

namespace tenon {

// `layout` is that of `graph` and `schedule`; what the graph holds goes to the plan.
std::unique_ptr<Plan> Emit(const PlanInput& input, const StepSchedule& schedule, Layout layout,
                           StepGraph& graph);

}  // namespace tenon
