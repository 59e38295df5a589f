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

int RunSpan::last_lane() const {
  int last = lane;
  for (const Step& step : steps) last = std::max(last, step.lane);
  return last;
}

size_t RunRecorder::Room() const {
  absl::MutexLock lock(&mutex_);
  return kMaxSteps - std::min(steps_, kMaxSteps);
}

int RunRecorder::Lane() {
  const std::thread::id self = std::this_thread::get_id();
  const absl::MutexLock lock(&mutex_);
  auto lane = std::find(lanes_.begin(), lanes_.end(), self);
  if (lane == lanes_.end()) lane = lanes_.insert(lanes_.end(), self);
  return static_cast<int>(lane - lanes_.begin());
}

void RunRecorder::Add(RunSpan span) {
  const absl::MutexLock lock(&mutex_);
  steps_ += span.steps.size();
  runs_.push_back(std::move(span));
}

void RunRecording::BeginRun(std::shared_ptr<const Plan> plan) {
  logs_[0].steps.reserve(std::min(room_, plan->steps.size()));
  span_.plan = std::move(plan);
  span_.planned_ns = logs_[0].step_start = recorder_.Now();
  logs_[0].thread = span_.lane;
}

void RunRecording::BeginTask(int lane) {
  logs_[lane].thread = recorder_.Lane();
  logs_[lane].step_start = recorder_.Now();
}

void RunRecording::AskForEnd(Log& log) {
  const StreamOf queue = StreamOfStep(*span_.plan, log.steps.back().index);
  if (queue.device != nullptr) {
    auto done_ns = std::make_shared<std::atomic<int64_t>>(0);
    const auto mark = [done_ns, start = recorder_.start()] {
      done_ns->store(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
      return absl::OkStatus();
    };
    // A refused callback leaves the end unknown, and the run goes on. The callback may come after
    // the recorder is gone, so it owns what it writes to.
    queue.device->HostCallback(queue.stream, mark).IgnoreError();
    log.queued.push_back({log.steps.size() - 1, std::move(done_ns)});
  }
  log.step_start = recorder_.Now();  // the time for the callback belongs to no step
}

void RunRecording::EndRun(bool whole) {
  span_.whole = whole && steps_.load() <= room_;
  span_.stop_ns = recorder_.Now();
  // A lane's steps stand in the order in which they ended; those of all lanes are merged.
  size_t count = 0;
  for (const Log& log : logs_) count += log.steps.size();
  span_.steps.reserve(count);
  std::array<size_t, kMostLanes> next{}, next_queued{};
  for (size_t taken = 0; taken < count; ++taken) {
    int first = -1;
    for (int lane = 0; lane < kMostLanes; ++lane) {
      const Log& log = logs_[lane];
      if (next[lane] == log.steps.size()) continue;
      if (first < 0 || log.steps[next[lane]].stop_ns < logs_[first].steps[next[first]].stop_ns)
        first = lane;
    }
    Log& log = logs_[first];
    std::vector<RunSpan::Queued>& queued = log.queued;
    if (size_t& q = next_queued[first]; q < queued.size() && queued[q].step == next[first]) {
      span_.queued.push_back({span_.steps.size(), std::move(queued[q].done_ns)});
      ++q;
    }
    span_.steps.push_back(log.steps[next[first]++]);
  }
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
