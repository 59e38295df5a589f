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

// The steps of the whole graph. Starts again while a loop variable turns out to change its shape.
// Errors name the node.
absl::StatusOr<StepGraph> MakeSteps(const PlanInput& input);

class Translator {
 public:
  // Loose variables are planned without a shape.
  Translator(const PlanInput& input, const LooseVariables& loose, StepGraph& graph);
  // Once. What it made is void if there are newly loose variables then.
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
