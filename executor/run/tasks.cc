// Tasks wait on counters. Those that are ready are bits of a few words, the most urgent lowest,
// from which every thread of the crew takes.
#include "executor/run/tasks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "executor/run/run.h"
#include "executor/run/run_recorder.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/callback_scope.h"
#include "graph/ir/nodes.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

constexpr int kMostLanes = RunRecording::kMostLanes;
static_assert(kMostLanes <= 64, "free lanes are bits of a word");

}  // namespace

absl::Status RunTasks(Frame& frame) { return frame.tasks()->Run(frame); }

TaskState::TaskState(const Plan& plan)
    : plan_(plan),
      words_((plan.tasks.size() + 63) / 64),
      waits_(std::make_unique<std::atomic<int32_t>[]>(plan.tasks.size())),
      ready_(std::make_unique<Bits[]>(words_)) {}

int64_t TaskState::TakeReused() {
  int64_t reused = 0;
  for (const auto& lane : lanes_) reused += lane->TakeReused();
  return reused;
}

void TaskState::Begin(Frame& frame) {
  const int threads = std::min(frame.context().workers->threads(), kMostLanes);
  while (static_cast<int>(lanes_.size()) < threads)
    lanes_.push_back(Frame::Lane(frame, static_cast<int>(lanes_.size())));
  for (const auto& lane : lanes_) lane->Join(frame);
  free_lanes_.store(~uint64_t{0} >> (64 - lanes_.size()));
  failed_place_.store(kNoPlace);
  for (size_t t = 0; t < plan_.tasks.size(); ++t)
    waits_[t].store(plan_.tasks[t].waits_for, std::memory_order_relaxed);
  left_.store(static_cast<int32_t>(plan_.tasks.size()));
  for (size_t t = 0; t < plan_.tasks.size(); ++t) {
    if (plan_.tasks[t].waits_for == 0) AddReady(static_cast<int32_t>(t));
  }
}

absl::Status TaskState::Run(Frame& frame) {
  Begin(frame);
  {
    Workers& workers = *frame.context().workers;
    const auto help = [&] { return Help(workers); };
    Workers::Crew crew(workers, help);
    workers.Call(workers.threads() - 1);
    crew.Work([this] { return done(); });
  }
  if (failed_place_.load() == kNoPlace) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  frame.set_node(failed_node_);
  return std::exchange(status_, absl::OkStatus());
}

bool TaskState::HasReady() const {
  for (size_t w = 0; w < words_; ++w) {
    if (ready_[w].load(std::memory_order_relaxed) != 0) return true;
  }
  return false;
}

int32_t TaskState::TakeReady() {
  for (size_t w = 0; w < words_; ++w) {
    uint64_t bits = ready_[w].load(std::memory_order_relaxed);
    while (bits != 0) {
      const uint64_t lowest = bits & -bits;
      bits = ready_[w].fetch_and(~lowest, std::memory_order_acquire);
      if ((bits & lowest) != 0) return static_cast<int32_t>(w * 64) + std::countr_zero(lowest);
    }
  }
  return -1;
}

bool TaskState::Help(Workers& workers) {
  if (!HasReady()) return false;
  // The lane comes first: who has one looks for tasks until there is none, so that a task is never
  // left to a thread that finds no lane.
  uint64_t free = free_lanes_.load();
  do {
    if (free == 0) return false;  // more threads than lanes
  } while (!free_lanes_.compare_exchange_weak(free, free & (free - 1)));
  const int number = std::countr_zero(free);
  int32_t task = TakeReady();
  const bool worked = task >= 0;
  Frame& lane = *lanes_[number];
  {
    const WorkScope work(Frame::NameOfNode, &lane);
    const LimitsScope limits(lane.context().limits);
    while (task >= 0) {
      RunTask(lane, task);
      // This thread takes one of the followers itself.
      const int ready = EndTask(task);
      if (ready > 1) workers.Call(ready - 1);
      task = TakeReady();
    }
  }
  free_lanes_.fetch_or(uint64_t{1} << number);
  if (worked && done()) workers.Call(0);  // the run's thread may sleep
  return worked;
}

int TaskState::EndTask(int32_t task) {
  int ready = 0;
  for (const int32_t follower : plan_.tasks[task].followers) {
    if (waits_[follower].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    AddReady(follower);
    ++ready;
  }
  left_.fetch_sub(1);
  return ready;
}

void TaskState::RunTask(Frame& lane, int32_t number) {
  const PlanTask& task = plan_.tasks[number];
  if (lane.context().recording != nullptr) lane.context().recording->BeginTask(lane.number());
  if (failed_place_.load() == kNoPlace) {
    lane.set_failed_step(task.begin);
    absl::Status status = WithinMemory([&] { return RunSteps(lane, task.begin, task.end); });
    if (status.ok()) return;
    const uint32_t failed = lane.failed_step();
    Fail(lane, std::move(status));
    return RunEarlier(lane, failed + 1, task.end);
  }
  RunEarlier(lane, task.begin, task.end);
}

// After an error, here or elsewhere: the steps that stand before it in the file still run.
void TaskState::RunEarlier(Frame& lane, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i) {
    if (plan_.step_places[i] >= failed_place_.load()) continue;
    if (!lane.CheckLimits().ok()) return;
    lane.set_failed_step(i);
    absl::Status status = WithinMemory([&] { return RunSteps(lane, i, i + 1); });
    if (!status.ok()) Fail(lane, std::move(status));
  }
}

void TaskState::Fail(const Frame& lane, absl::Status status) {
  const bool by_node = !plan_.places.empty() && lane.node() != kNoNode;
  const uint32_t place =
      by_node ? plan_.places[lane.node()] : plan_.step_places[lane.failed_step()];
  const absl::MutexLock lock(&mutex_);
  if (place >= failed_place_.load()) return;
  failed_place_.store(place);
  failed_node_ = lane.node();
  status_ = std::move(status);
}

}  // namespace tenon
