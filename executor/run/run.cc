// The dispatch loop.
#include "executor/run/run.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/run_recorder.h"
#include "executor/run/slow_steps.h"
#include "executor/run/step_watch.h"
#include "executor/run/tasks.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/tensor_guards.h"
#include "graph/ir/nodes.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

constexpr uint64_t kLine = 64;

// After each step of a run that is recorded or watched, or has a deadline.
absl::Status AfterStep(Frame& frame, size_t step, absl::Status status) {
  if (frame.context().watch != nullptr) frame.context().watch->AfterStep(frame, step);
  if (frame.context().recording != nullptr)
    frame.context().recording->EndStep(step, frame.number());
  return status.ok() ? frame.CheckLimits() : status;
}

// Two instances, so that other runs do not even ask for what is to be done after a step.
template <bool kWatched>
absl::Status RunRow(Frame& frame, uint32_t begin, uint32_t end) {
  void* const* const table = frame.table();
  char* const arena = frame.arena();
  StepArgs args{nullptr, nullptr, nullptr, frame.context().workers, &frame};
  const Step* const steps = frame.plan().steps.data();
  const Step* step = steps + begin;
  try {
    for (; step != steps + end; ++step) {
      frame.set_node(step->node);
      args.in = table + step->first_arg;
      args.out = args.in + step->num_inputs;
      args.scratch = arena + step->scratch * kLine;
      if constexpr (kWatched) {
        if (frame.context().watch != nullptr)
          frame.context().watch->BeforeStep(frame, step - steps);
      }
      absl::Status status = step->fn(step->state, args);
      if constexpr (kWatched) status = AfterStep(frame, step - steps, std::move(status));
      if (!status.ok()) [[unlikely]] {
        frame.NoteError(status);
        frame.set_failed_step(static_cast<uint32_t>(step - steps));
        return status;
      }
    }
  } catch (const RunEnded& ended) {
    frame.set_failed_step(static_cast<uint32_t>(step - steps));
    return ended.status();
  } catch (...) {  // no memory: WithinMemory makes it a status
    frame.set_failed_step(static_cast<uint32_t>(step - steps));
    throw;
  }
  return absl::OkStatus();
}

// If steps run in another order than the graph's, a node may fail before one that stands earlier in
// the graph has run. Runs the earlier nodes that are left, and returns the error of the first node
// in the graph's order: the same error in every order of steps.
absl::Status RunEarlierNodes(const Plan& plan, Frame& frame, absl::Status status) {
  NodeId failed = frame.node();
  for (uint32_t i = frame.failed_step() + 1; i < plan.main_steps; ++i) {
    if (!frame.CheckLimits().ok()) break;
    const Step& step = plan.steps[i];
    if (!IsService(step) && plan.places[step.node] > plan.places[failed]) continue;
    absl::Status other = WithinMemory([&] { return RunSteps(frame, i, i + 1); });
    const NodeId n = frame.node();
    if (other.ok() || n == kNoNode || plan.places[n] >= plan.places[failed]) continue;
    failed = n;
    status = std::move(other);
  }
  frame.set_node(failed);
  return status;
}

absl::Status Dispatch(const Plan& plan, Frame& frame, bool is_counted) {
  DenormalGuard denormals;
  std::optional<Workers::Runner> runner;
  if (is_counted) runner.emplace(*frame.context().workers);
  const WorkScope work(Frame::NameOfNode, &frame);
  const LimitsScope limits(frame.context().limits);
  absl::Status status = plan.tasks.empty()
                            ? WithinMemory([&] { return RunSteps(frame, 0, plan.main_steps); })
                            : WithinMemory([&] { return RunTasks(frame); });
  // Tasks have run the earlier nodes already.
  if (!status.ok() && plan.tasks.empty() && !plan.places.empty() && frame.node() != kNoNode)
    status = RunEarlierNodes(plan, frame, std::move(status));
  // After an error too: no call may outlive the run.
  if (plan.num_calls > 0) status = frame.EndCalls(std::move(status));
  return status.ok() ? status : NodeError(*plan.graph, *plan.calls, frame.node(), status);
}

absl::StatusOr<Tensor> Fetch(const FetchSpec& fetch, const Frame& frame) {
  const Tensor* t = nullptr;
  switch (fetch.where) {
    case Where::kConst:
      return fetch.constant;
    case Where::kFeed:
      t = &frame.feed(fetch.index);
      break;
    case Where::kFetch:
      t = &frame.fetch_buffer(fetch.index);
      break;
    case Where::kSlot:
      t = &frame.slot(fetch.index);
      break;
    case Where::kNone:
    case Where::kArena:
      return Tensor();
  }
  return Tensor(fetch.dtype, fetch.shape.has_value() ? *fetch.shape : t->shape(), t->buffer());
}

absl::StatusOr<std::vector<Tensor>> CollectFetches(const Plan& plan, const Frame& frame) {
  std::vector<Tensor> values;
  values.reserve(plan.fetches.size());
  for (size_t i = 0; i < plan.fetches.size(); ++i) {
    const FetchSpec& fetch = plan.fetches[i];
    if (fetch.alive != 0 && !frame.alive(fetch.alive)) {
      return absl::InvalidArgumentError(
          absl::StrCat("fetch '", plan.fetch_names[i],
                       "' has no value: it lies in a branch that was not taken (Retval[", i,
                       "] does not have value)"));
    }
    TENON_ASSIGN_OR_RETURN(Tensor value, Fetch(fetch, frame));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<std::vector<Tensor>> RunFrame(const Plan& plan, absl::Span<const Tensor> feeds,
                                             const RunContext& context, Frame& frame,
                                             bool is_counted) {
  TENON_RETURN_IF_ERROR(frame.Begin(feeds, context));
  absl::Status status = Dispatch(plan, frame, is_counted);
  // Comes after an error, too: queued work may still write to this run's memory.
  if (!plan.devices.empty()) status.Update(frame.SynchronizeAtEnd(status));
  if (plan.is_watched) TensorGuards::Get().CheckAll();
  TENON_RETURN_IF_ERROR(status);
  return CollectFetches(plan, frame);
}

}  // namespace

absl::Status RunSteps(Frame& frame, uint32_t begin, uint32_t end) {
  return frame.context().is_watched ? RunRow<true>(frame, begin, end)
                                    : RunRow<false>(frame, begin, end);
}

absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, FramePool& frames,
                                            absl::Span<const Tensor> feeds,
                                            const RunContext& context) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, frames.Take(plan));
  absl::StatusOr<std::vector<Tensor>> values =
      RunFrame(plan, feeds, context, *frame, /*is_counted=*/true);
  frame->End();
  frames.Return(std::move(frame));
  return values;
}

absl::StatusOr<std::vector<Tensor>> RunBriefly(const Plan& plan, Frame& frame,
                                               absl::Span<const Tensor> feeds,
                                               const RunContext& context) {
  absl::StatusOr<std::vector<Tensor>> values =
      RunFrame(plan, feeds, context, frame, /*is_counted=*/false);
  frame.End();
  return values;
}

}  // namespace tenon
