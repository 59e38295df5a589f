// Running a plan.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/run/frame_pool.h"
#include "executor/run/plan.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// One run: the fetches in order. `feeds` fit plan.feeds, `frames` are those of this plan. Any
// number of runs at once. Errors name the node.
absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, FramePool& frames,
                                            absl::Span<const Tensor> feeds,
                                            const RunContext& context);

// Runs steps [begin, end) of the frame's plan. An error is that of frame.node(). For steps that
// run others.
absl::Status RunSteps(Frame& frame, uint32_t begin, uint32_t end);

}  // namespace tenon
