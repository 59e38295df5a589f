// Follows the steps as the host does: who waits for a copy knows that what its stream did before
// the copy is done, and what the stream had waited for.

#include "executor/plan/settled_devices.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/run/device_steps.h"
#include "executor/run/slow_steps.h"

namespace tenon {
namespace {

class Follower {
 public:
  void Follow(const SlowStep& step) {
    ++now_;
    if (Device* const device = step.MayQueueOn(); device != nullptr) unclear_.insert(device);
    if (const auto* copy = dynamic_cast<const CopyStep*>(&step); copy != nullptr) Copy(*copy);
    if (const auto* wait = dynamic_cast<const WaitStep*>(&step); wait != nullptr) Wait(*wait);
    if (const StreamOf stream = step.Queues(); stream.device != nullptr)
      queued_[stream.stream] = {stream.device, now_};
  }

  // A step that a run may leave out, or do several times.
  void FollowUncertain(const SlowStep& step) {
    if (Device* const device = step.MayQueueOn(); device != nullptr) unclear_.insert(device);
    if (Device* const device = step.Queues().device; device != nullptr) unclear_.insert(device);
  }

  bool IsSettled(Device* device) const {
    return !unclear_.contains(device) &&
           std::all_of(queued_.begin(), queued_.end(), [&](const auto& entry) {
             const auto done = done_.find(entry.first);
             return entry.second.device != device ||
                    (done != done_.end() && done->second >= entry.second.at);
           });
  }

 private:
  using Times = absl::flat_hash_map<StreamHandle, int64_t>;  // by stream: up to when
  struct Queued {
    Device* device;
    int64_t at;
  };
  struct Copied {
    StreamHandle stream;
    int64_t at;
    Times after;
  };

  void Copy(const CopyStep& copy) {
    for (const StreamWait& wait : copy.waits()) waited_[wait.waiting][wait.other] = now_;
    const StreamHandle stream = copy.Queues().stream;
    copied_[copy.event()] = {stream, now_, waited_[stream]};
  }

  void Wait(const WaitStep& wait) {
    const auto copied = copied_.find(wait.event());
    if (copied == copied_.end()) return;
    Done(copied->second.stream, copied->second.at);
    for (const auto& [stream, at] : copied->second.after) Done(stream, at);
  }
  void Done(StreamHandle stream, int64_t at) {
    done_[stream] = std::max(done_.try_emplace(stream, 0).first->second, at);
  }

  int64_t now_ = 0;
  absl::flat_hash_map<StreamHandle, Queued> queued_;  // what was queued last
  absl::flat_hash_map<StreamHandle, Times> waited_;   // by waiting stream
  absl::flat_hash_map<int32_t, Copied> copied_;       // by event
  Times done_;
  absl::flat_hash_set<Device*> unclear_;
};

}  // namespace

std::vector<bool> SettledDevices(const Plan& plan) {
  std::vector<bool> settled;
  if (plan.devices.empty()) return settled;
  Follower follower;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.fn != RunSlowStep) continue;
    const auto& slow = *static_cast<const SlowStep*>(step.state);
    const bool certain = i < plan.main_steps && slow.guard == 0;
    certain ? follower.Follow(slow) : follower.FollowUncertain(slow);
  }
  for (Device* device : plan.devices) settled.push_back(follower.IsSettled(device));
  return settled;
}

}  // namespace tenon
