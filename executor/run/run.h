// Runs a plan.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/run/frame_pool.h"
#include "executor/run/plan.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Runs the plan once, on the calling thread and context.workers, which must not be null. Returns
// the fetched values in order, in host memory; a node that is only to be run has an uninitialized
// tensor. `feeds` are in host memory and must fit plan.feeds, which is not checked. The run shares
// feeds that are aligned to their elements, and copies the others. `frames` must be the pool of
// this plan. Any number of threads may run one plan at once, with one pool. When the function
// returns, after an error too, the devices have done all work of this run
// (Frame::SynchronizeAtEnd), but for a device that did not end its work in time (Frame::Abandon).
//
// An error of a node names the node. If several nodes would fail, their order decides whose error
// is returned:
// * With Plan::places, the node at the lowest place. After an error, the steps of nodes at lower
//   places still run.
// * Without places and tasks, the node of the first step in the plan that fails. No step behind
//   that step runs.
// * Without places, but with tasks, the node of the step at the lowest Plan::step_places. Steps at
//   higher places may have run already.
// Asynchronous calls that have begun end in any case. Frame::EndCalls says which error counts.
//
// CANCELLED and DEADLINE_EXCEEDED of context.limits (RunLimits::Check) count as errors of the node
// that has run last. The thread begins no step after them; other threads end the tasks that they
// have begun (RunTasks). The limits are checked before each pass of a loop, between the tiles of a
// kernel, while a kernel waits for another run or the host for an event of a device and, if
// context.is_watched, after each step.
//
// Other errors: RESOURCE_EXHAUSTED without memory for a frame, a feed or a fetch; INVALID_ARGUMENT
// for a fetch in a branch that was not taken, with the fetch's name; errors of devices, as their
// plug-ins return them.
absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, FramePool& frames,
                                            absl::Span<const Tensor> feeds,
                                            const RunContext& context);

// RunPlan for a run of some microseconds, in a frame of `plan` that the caller has and keeps. The
// thread is not counted among those that compute (Workers::Runner): brief runs on many threads
// would wait for the counter, which all of them would write. Frame::End has been called when the
// function returns.
absl::StatusOr<std::vector<Tensor>> RunBriefly(const Plan& plan, Frame& frame,
                                               absl::Span<const Tensor> feeds,
                                               const RunContext& context);

// Runs steps [begin, end) of the frame's plan, in order, until one fails or, if is_watched is set
// in the frame's context, until Frame::CheckLimits fails after a step. For steps that run other
// steps: branches and loops. After an error, frame.node() is the node that failed or ran last; the
// error does not name the node. Passes exceptions of steps on, but for RunEnded: WithinMemory
// makes a lack of memory a status.
absl::Status RunSteps(Frame& frame, uint32_t begin, uint32_t end);

}  // namespace tenon
