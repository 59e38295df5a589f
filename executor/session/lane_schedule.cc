// Tasks begin in the order of time: the lane that is free first takes the most urgent task that is
// ready then.
#include "executor/session/lane_schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/control_steps.h"
#include "executor/run/run_recorder.h"

namespace tenon {
namespace {

constexpr double kQueueUs = 0.6;           // of the host, to queue a kernel or a copy
constexpr double kWaitUs = 0.2;            // of a wait for what is there already
constexpr double kAssumedLoopPasses = 10;  // of a loop

const SlowStep* SlowStepOf(const Step& step) {
  return step.fn == RunSlowStep ? static_cast<const SlowStep*>(step.state) : nullptr;
}

absl::Span<const int32_t> InputsOf(const Plan& plan, uint32_t i) {
  const Step& step = plan.steps[i];
  return absl::MakeConstSpan(plan.args).subspan(step.first_arg, step.num_inputs);
}
absl::Span<const int32_t> OutputsOf(const Plan& plan, uint32_t i) {
  const Step& step = plan.steps[i];
  const size_t first = step.first_arg + step.num_inputs;
  const size_t end = plan.ArgsEnd(i);
  // A step without arguments may have an end of 0.
  return end <= first ? absl::Span<const int32_t>()
                      : absl::MakeConstSpan(plan.args).subspan(first, end - first);
}

// By item: the time of the longest chain that ends with it, and the item before it there; -1: none.
struct Paths {
  explicit Paths(size_t items) : us(items, 0), before(items, -1) {}
  void Follow(size_t item, int32_t other) {
    if (us[other] <= us[item]) return;
    us[item] = us[other];
    before[item] = other;
  }
  Chain Longest() const {
    Chain chain;
    int32_t last = -1;
    for (size_t i = 0; i < us.size(); ++i) {
      if (last < 0 || us[i] > us[last]) last = static_cast<int32_t>(i);
    }
    if (last >= 0) chain.us = us[last];
    for (; last >= 0; last = before[last]) chain.links.push_back(static_cast<uint32_t>(last));
    std::ranges::reverse(chain.links);
    return chain;
  }

  std::vector<double> us;
  std::vector<int32_t> before;
};

// A task stands before its followers.
Chain ChainOfTasks(const Plan& plan, absl::Span<const double> step_us) {
  Paths paths(plan.tasks.size());
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const PlanTask& task = plan.tasks[t];
    for (uint32_t i = task.begin; i < task.end; ++i) paths.us[t] += step_us[i];
    for (const int32_t follower : task.followers) paths.Follow(follower, static_cast<int32_t>(t));
  }
  return paths.Longest();
}

Chain ChainOfSteps(const Plan& plan, absl::Span<const double> step_us) {
  Paths paths(plan.main_steps);
  std::vector<int32_t> writer(plan.storages.size(), -1);
  for (uint32_t i = 0; i < plan.main_steps; ++i) {
    for (const int32_t s : InputsOf(plan, i)) {
      if (s >= 0 && writer[s] >= 0) paths.Follow(i, writer[s]);
    }
    // A wait comes behind the copy that it waits for, which writes what the wait hands on.
    if (const SlowStep* slow = SlowStepOf(plan.steps[i]); slow != nullptr && slow->Waits()) {
      for (const int32_t s : OutputsOf(plan, i)) {
        if (s >= 0 && writer[s] >= 0) paths.Follow(i, writer[s]);
      }
    }
    paths.us[i] += step_us[i];
    for (const int32_t s : OutputsOf(plan, i)) {
      if (s >= 0) writer[s] = static_cast<int32_t>(i);
    }
  }
  return paths.Longest();
}

class LaneSimulation {
 public:
  LaneSimulation(std::shared_ptr<const Plan> plan, int threads)
      : plan_(*plan), there_us_(plan_.storages.size(), 0) {
    result_.plan = std::move(plan);
    result_.threads = std::max(threads, 1);
    for (int i = 0; i < result_.threads; ++i)
      result_.lanes.push_back({.name = absl::StrCat("host ", i), .is_host = true});
    free_us_.assign(result_.lanes.size(), 0);
  }

  LaneSchedule Run() && {
    FindCosts();
    if (plan_.tasks.empty()) {
      RunSteps(0, 0, plan_.main_steps, 0);
    } else {
      RunTasks();
    }
    result_.critical = LongestChain(plan_, cost_us_);
    for (const double free : free_us_) result_.makespan_us = std::max(result_.makespan_us, free);
    for (const Lane& lane : result_.lanes) result_.work_us += lane.work_us;
    std::ranges::stable_sort(result_.spans, {}, &LaneSpan::start_us);
    return std::move(result_);
  }

 private:
  // What a branch or a loop runs stands behind it: its own costs are known first.
  void FindCosts() {
    cost_us_.assign(plan_.step_costs_us.begin(), plan_.step_costs_us.end());
    cost_us_.resize(plan_.steps.size());
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      const SlowStep* const slow = SlowStepOf(plan_.steps[i]);
      if (slow == nullptr) continue;
      if (slow->Waits()) cost_us_[i] = kWaitUs;
      if (const auto* branch = dynamic_cast<const BranchStep*>(slow))
        cost_us_[i] += CostOf(branch->steps());
      if (const auto* loop = dynamic_cast<const LoopStep*>(slow))
        cost_us_[i] += kAssumedLoopPasses * CostOf(loop->steps());
    }
  }
  double CostOf(StepRange range) const {
    double cost = 0;
    for (uint32_t i = range.begin; i < range.end; ++i) cost += cost_us_[i];
    return cost;
  }

  double ThereUs(absl::Span<const int32_t> storages) const {
    double there = 0;
    for (const int32_t s : storages) {
      if (s >= 0) there = std::max(there, there_us_[s]);
    }
    return there;
  }

  int32_t LaneOf(const StreamOf& stream) {
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].device == stream.device && streams_[i].name == stream.name)
        return result_.threads + static_cast<int32_t>(i);
    }
    streams_.push_back(stream);
    result_.lanes.push_back({.name = absl::StrCat(stream.device->short_name(), " ", stream.name)});
    free_us_.push_back(0);
    return static_cast<int32_t>(result_.lanes.size()) - 1;
  }

  double Work(uint32_t i, int32_t lane, double start, double us, bool queues = false) {
    const double stop = start + us;
    result_.spans.push_back({i, lane, start, stop, false, queues});
    result_.lanes[lane].work_us += us;
    free_us_[lane] = stop;
    return stop;
  }

  // Runs step i on a host's lane from `now` on; returns when the lane goes on.
  double RunStep(uint32_t i, int32_t lane, double now) {
    const SlowStep* const slow = SlowStepOf(plan_.steps[i]);
    const StreamOf stream = slow == nullptr ? StreamOf() : slow->Queues();
    if (stream.device != nullptr) {
      now = Work(i, lane, now, kQueueUs, true);
      const int32_t other = LaneOf(stream);
      const double begin = std::max({now, free_us_[other], ThereUs(InputsOf(plan_, i))});
      const double end = Work(i, other, begin, cost_us_[i]);
      for (const int32_t s : OutputsOf(plan_, i)) {
        if (s >= 0) there_us_[s] = end;
      }
      return now;
    }
    if (slow != nullptr && slow->Waits()) {
      const double there = ThereUs(OutputsOf(plan_, i));
      if (there > now) {
        result_.spans.push_back({i, lane, now, there, true, false});
        result_.lanes[lane].wait_us += there - now;
        now = there;
      }
    }
    return Work(i, lane, now, cost_us_[i]);
  }
  double RunSteps(int32_t lane, uint32_t begin, uint32_t end, double now) {
    for (uint32_t i = begin; i < end; ++i) now = RunStep(i, lane, now);
    return now;
  }

  void RunTasks() {
    using Timed = std::pair<double, int32_t>;
    Queue<Timed> coming, lanes;  // tasks by when they are ready, lanes by when they are free
    Queue<int32_t> ready;        // tasks, the most urgent first
    std::vector<int32_t> waits(plan_.tasks.size());
    std::vector<double> ready_us(plan_.tasks.size(), 0);
    result_.tasks.resize(plan_.tasks.size());
    for (size_t t = 0; t < waits.size(); ++t) {
      waits[t] = plan_.tasks[t].waits_for;
      if (waits[t] == 0) coming.emplace(0, static_cast<int32_t>(t));
    }
    for (int i = 0; i < result_.threads; ++i) lanes.emplace(0, i);
    for (size_t left = plan_.tasks.size(); left > 0; --left) {
      auto [now, lane] = lanes.top();
      lanes.pop();
      if (ready.empty()) now = std::max(now, coming.top().first);
      for (; !coming.empty() && coming.top().first <= now; coming.pop())
        ready.push(coming.top().second);
      const int32_t t = ready.top();
      ready.pop();
      now = std::max(now, ready_us[t]);
      const PlanTask& task = plan_.tasks[t];
      const double end = RunSteps(lane, task.begin, task.end, now);
      result_.tasks[t] = {lane, now, end};
      lanes.emplace(end, lane);
      for (const int32_t follower : task.followers) {
        ready_us[follower] = std::max(ready_us[follower], end);
        if (--waits[follower] == 0) coming.emplace(ready_us[follower], follower);
      }
    }
  }

  template <typename T>
  using Queue = std::priority_queue<T, std::vector<T>, std::greater<>>;

  const Plan& plan_;
  LaneSchedule result_;
  std::vector<double> cost_us_;    // by step, with what it runs
  std::vector<double> free_us_;    // by lane
  std::vector<double> there_us_;   // by storage: when a stream has written it
  std::vector<StreamOf> streams_;  // of the lanes behind those of the host
};

}  // namespace

Chain LongestChain(const Plan& plan, absl::Span<const double> step_us) {
  return plan.tasks.empty() ? ChainOfSteps(plan, step_us) : ChainOfTasks(plan, step_us);
}

LaneSchedule ScheduleOnLanes(std::shared_ptr<const Plan> plan, int threads) {
  return LaneSimulation(std::move(plan), threads).Run();
}

}  // namespace tenon
