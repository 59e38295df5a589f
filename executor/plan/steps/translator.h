// Translates a placed graph into steps, node by node in the order of the schedule.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/branches.h"
#include "executor/plan/steps/cpu_steps.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/liveness.h"
#include "executor/plan/steps/loops.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/plugin_steps.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// The steps of the whole graph. Loop variables are first taken to keep the shape of their first
// value; while one turns out to change its shape, translation starts again with that shape unknown.
// Errors are those of BuildPlan.
absl::StatusOr<StepGraph> MakeSteps(const PlanInput& input);

// One attempt. Not thread-safe.
class Translator {
 public:
  // Variables in `loose` are planned without a shape. `graph` must be new, and must outlive this
  // object, as the other references must.
  Translator(const PlanInput& input, const LooseVariables& loose, StepGraph& graph);
  // Fills the graph. To be called once. If newly_loose() is not empty afterwards, the graph and the
  // returned status are void: an error may come from a wrong shape.
  absl::Status Run();
  const LooseVariables& newly_loose() const { return loops_.newly_loose(); }

 private:
  absl::Status AddFeeds();
  absl::Status AddUnlessFed(NodeId n);
  absl::Status AddNode(NodeId n);
  absl::Status AddConst(NodeId n);
  absl::Status Rename(NodeId n);
  absl::Status AddFetch(const Output& fetch);

  const PlanInput& in_;
  StepGraph& graph_;
  StepBuilder steps_;
  Liveness liveness_;
  DeviceCopies copies_;
  Operands operands_;
  Branches branches_;
  Loops loops_;
  CpuSteps cpu_;
  PluginSteps plugins_;
};

}  // namespace tenon
