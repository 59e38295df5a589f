// Each thread that runs gets a lane. A step that only queues work on a stream ends later than its
// function: a host callback on that stream notes the time.

#include "executor/run/run_recorder.h"

#include <algorithm>

#include "executor/run/plan.h"
#include "executor/run/slow_steps.h"
#include "graph/ir/node_places.h"

namespace tenon {
namespace {

const SlowStep* SlowOf(const Step& step) {
  return step.fn == RunSlowStep ? static_cast<const SlowStep*>(step.state) : nullptr;
}

}  // namespace

size_t RunRecorder::Room() const {
  absl::MutexLock lock(&mutex_);
  return kMaxSteps - std::min(steps_, kMaxSteps);
}

void RunRecorder::Add(RunSpan span) {
  const std::thread::id self = std::this_thread::get_id();
  absl::MutexLock lock(&mutex_);
  auto lane = std::find(lanes_.begin(), lanes_.end(), self);
  if (lane == lanes_.end()) lane = lanes_.insert(lanes_.end(), self);
  span.lane = static_cast<int>(lane - lanes_.begin());
  steps_ += span.steps.size();
  runs_.push_back(std::move(span));
}

void RunRecording::BeginRun(std::shared_ptr<const Plan> plan) {
  span_.steps.reserve(std::min(room_, plan->steps.size()));
  span_.plan = std::move(plan);
  span_.planned_ns = step_start_ = recorder_.Now();
}

void RunRecording::AskForEnd() {
  const StreamOf queue = StreamOfStep(*span_.plan, span_.steps.back().index);
  if (queue.device != nullptr) {
    auto done_ns = std::make_shared<std::atomic<int64_t>>(0);
    const auto mark = [done_ns, start = recorder_.start()] {
      done_ns->store(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
      return absl::OkStatus();
    };
    // A refused callback leaves the end unknown, and the run goes on. The callback may come after
    // the recorder is gone, so it owns what it writes to.
    queue.device->HostCallback(queue.stream, mark).IgnoreError();
    span_.queued.push_back({span_.steps.size() - 1, std::move(done_ns)});
  }
  step_start_ = recorder_.Now();  // the time for the callback belongs to no step
}

void RunRecording::EndRun(bool whole) {
  span_.whole = span_.whole && whole;
  span_.stop_ns = recorder_.Now();
  recorder_.Add(std::move(span_));
}

StepLabel LabelOf(const Plan& plan, uint32_t index) {
  const Step& step = plan.steps[index];
  const SlowStep* slow = SlowOf(step);
  StepLabel label;
  if (step.node != kNoNode) {
    label.node = plan.graph->name(step.node);
    label.places = PlacesText(*plan.graph, step.node);
    label.device = plan.graph->device(step.node);
    label.device.remove_prefix(std::min(label.device.find("/device:"), label.device.size()));
  }
  const bool of_node = step.node != kNoNode && (slow == nullptr || slow->IsNode());
  label.what = of_node ? std::string(plan.graph->op_name(step.node)) : slow->Describe();
  return label;
}

StreamOf StreamOfStep(const Plan& plan, uint32_t index) {
  const SlowStep* slow = SlowOf(plan.steps[index]);
  return slow == nullptr ? StreamOf() : slow->Queues();
}

}  // namespace tenon
