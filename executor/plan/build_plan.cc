// Four stages: steps in the order of the schedule, rows of steps that run together, the places of
// values in memory, and the flat arrays that a run reads.

#include "executor/plan/build_plan.h"

#include <utility>

#include "executor/plan/base/step_schedule.h"
#include "executor/plan/emit.h"
#include "executor/plan/layout/layout.h"
#include "executor/plan/steps/translator.h"
#include "graph/base/status_macros.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Plan>> BuildPlan(const PlanInput& input) {
  TENON_ASSIGN_OR_RETURN(StepGraph graph, MakeSteps(input));
  const StepSchedule schedule = ScheduleSteps(graph);
  TENON_ASSIGN_OR_RETURN(Layout layout, MakeLayout(input, graph, schedule));
  return Emit(input, schedule, std::move(layout), graph);
}

}  // namespace tenon
