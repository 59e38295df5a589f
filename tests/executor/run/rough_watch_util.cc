#include "tests/executor/run/rough_watch_util.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "executor/run/frame.h"
#include "executor/run/slow_steps.h"

namespace tenon::testing {
namespace {

constexpr int kFill = 0xff;
constexpr int64_t kMostRuns = 64;  // that are remembered; older ones have ended

// Whether the step is sure to make its outputs now: it is not skipped, is no Merge, which makes
// none if all of its inputs are dead, and does not only wait for what another step lets a device
// write.
bool Writes(const Frame& frame, const Step& step) {
  if (step.fn != RunSlowStep) return true;
  const SlowStep& slow = *static_cast<const SlowStep*>(step.state);
  return frame.alive(slow.guard) && !slow.Waits() && slow.Describe() != "merge";
}

absl::Span<const int32_t> ArgsOf(const Plan& plan, size_t step) {
  const size_t begin = plan.steps[step].first_arg;
  return absl::MakeConstSpan(plan.args).subspan(begin, plan.ArgsEnd(step) - begin);
}

}  // namespace

RoughWatch::Uses RoughWatch::FindUses(const Plan& plan) {
  Uses uses(plan.storages.size(), 0);
  for (size_t k = 0; k < plan.steps.size(); ++k) {
    // A step with two arguments in one storage uses it once.
    std::vector<int32_t> args(ArgsOf(plan, k).begin(), ArgsOf(plan, k).end());
    std::ranges::sort(args);
    args.erase(std::unique(args.begin(), args.end()), args.end());
    for (const int32_t s : args) {
      if (s < 0) continue;
      const bool counts = k < plan.main_steps && plan.storages[s].where == Where::kArena;
      uses[s] = counts && uses[s] >= 0 ? uses[s] + 1 : -1;
    }
  }
  return uses;
}

RoughWatch::Left RoughWatch::LeftOf(const Frame& frame) {
  const int64_t id = frame.context().step_id;
  const absl::MutexLock lock(&mutex_);
  Left& left = runs_[id];
  if (left != nullptr) return left;
  const Uses uses = FindUses(frame.plan());
  left = Left(new std::atomic<int32_t>[uses.size()]);
  for (size_t s = 0; s < uses.size(); ++s) left[s] = uses[s];
  Left made = left;
  runs_.erase(runs_.begin(), runs_.lower_bound(id - kMostRuns));
  return made;
}

void RoughWatch::Delay() {
  uint32_t x = random_.fetch_add(0x9e3779b9);
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  if (x % 16 == 0) std::this_thread::yield();
  if (x % 64 == 1) std::this_thread::sleep_for(std::chrono::microseconds(x >> 8 & 127));
}

void RoughWatch::BeforeStep(Frame& frame, size_t k) {
  Delay();
  const Plan& plan = frame.plan();
  const Step& step = plan.steps[k];
  if (!Writes(frame, step)) return;
  for (size_t a = step.first_arg + step.num_inputs; a < plan.ArgsEnd(k); ++a) {
    const int32_t s = plan.args[a];
    if (s < 0 || plan.storages[s].where != Where::kArena) continue;
    void* const data = frame.table()[a];
    const auto in = frame.table() + step.first_arg;
    if (std::find(in, in + step.num_inputs, data) != in + step.num_inputs) continue;
    std::memset(data, kFill, plan.storages[s].bytes);
    filled_.before.fetch_add(1, std::memory_order_relaxed);
  }
}

void RoughWatch::AfterStep(Frame& frame, size_t k) {
  const Plan& plan = frame.plan();
  if (k < plan.main_steps && plan.devices.empty()) {
    const Left left = LeftOf(frame);
    std::vector<int32_t> args(ArgsOf(plan, k).begin(), ArgsOf(plan, k).end());
    std::ranges::sort(args);
    args.erase(std::unique(args.begin(), args.end()), args.end());
    for (const int32_t s : args) {
      if (s < 0 || left[s].load() < 0 || left[s].fetch_sub(1) != 1) continue;
      std::memset(frame.arena() + plan.storages[s].offset, kFill, plan.storages[s].bytes);
      filled_.after.fetch_add(1, std::memory_order_relaxed);
    }
  }
  Delay();
}

}  // namespace tenon::testing
