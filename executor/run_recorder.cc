#include "executor/run_recorder.h"

#include <algorithm>

#include "executor/plan.h"
#include "executor/slow_steps.h"

namespace tenon {

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

void RunRecording::EndRun() {
  span_.stop_ns = recorder_.Now();
  recorder_.Add(std::move(span_));
}

StepLabel LabelOf(const Plan& plan, uint32_t index) {
  const Step& step = plan.steps[index];
  const SlowStep* slow =
      step.fn == RunSlowStep ? static_cast<const SlowStep*>(step.state) : nullptr;
  StepLabel label;
  if (step.node != kNoNode) {
    label.node = plan.graph->name(step.node);
    label.device = plan.graph->device(step.node);
    label.device.remove_prefix(std::min(label.device.find("/device:"), label.device.size()));
  }
  const bool of_node = step.node != kNoNode && (slow == nullptr || slow->IsNode());
  label.what = of_node ? std::string(plan.graph->op_name(step.node)) : slow->Describe();
  if (slow != nullptr) label.queue = slow->Queues();
  return label;
}

}  // namespace tenon
