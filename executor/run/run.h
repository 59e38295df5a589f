// Runs a plan.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/run/frame_pool.h"
#include "executor/run/plan.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Runs the plan once, on the calling thread, and returns the fetched values in order. `feeds` must
// fit plan.feeds; `frames` must be the pool of this plan. Any number of threads may run one plan at
// once. Waits for all devices of the plan, after an error too. Errors name the node or the fetch.
absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, FramePool& frames,
                                            absl::Span<const Tensor> feeds,
                                            const RunContext& context);

// Runs steps [begin, end) of the frame's plan. After an error, frame.node() is the node that
// failed. For steps that run other steps: branches and loops.
absl::Status RunSteps(Frame& frame, uint32_t begin, uint32_t end);

}  // namespace tenon
