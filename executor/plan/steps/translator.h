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

// The steps of the whole graph. They keep pointers into `input`, as PlanInput says of a plan.
//
// Each loop variable is first planned with the shape of its first value. A variable that turns out
// to have another shape in a later pass is loose. If an attempt finds loose variables, the next one
// starts from the beginning and plans these without a shape. The sixth attempt plans every loop
// variable without a shape, so that it is the last. Errors are those of BuildPlan.
absl::StatusOr<StepGraph> MakeSteps(const PlanInput& input);

// One attempt. Not thread-safe.
class Translator {
 public:
  // Variables in `loose` are planned without a shape. `streams`: as of PluginSteps. `graph` must be
  // a new StepGraph(input.graph, input.schedule.order). All four references must outlive this
  // object.
  Translator(const PlanInput& input, const LooseVariables& loose,
             const std::vector<uint8_t>& streams, StepGraph& graph);
  // Fills the graph. To be called once. After an error the graph is void. If newly_loose() is not
  // empty afterwards, the graph and the returned status are void: shapes were wrong, and an error
  // may come from them.
  absl::Status Run();
  // The loose variables that Run has found, none of which is in `loose`. The next attempt needs
  // these and `loose` together.
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
