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
    if (const auto* kernel = dynamic_cast<const PluginStep*>(&step); kernel != nullptr) {
      WaitFor(kernel->Queues().device, kernel->waits());
      if (kernel->event() >= 0) Record(kernel->event(), kernel->Queues());
    }
    if (const auto* copy = dynamic_cast<const CopyStep*>(&step); copy != nullptr) Copy(*copy);
    if (const auto* wait = dynamic_cast<const WaitStep*>(&step); wait != nullptr) Wait(*wait);
    if (const StreamOf stream = step.Queues(); stream.device != nullptr)
      queued_[KeyOf(stream)] = now_;
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
             return entry.first.first != device ||
                    (done != done_.end() && done->second >= entry.second);
           });
  }

 private:
  // A plug-in may give streams of two devices the same handle.
  using Key = std::pair<Device*, StreamHandle>;
  static Key KeyOf(const StreamOf& stream) { return {stream.device, stream.stream}; }
  using Times = absl::flat_hash_map<Key, int64_t>;  // by stream: up to when
  struct Recorded {
    Key stream;
    int64_t at;
    Times after;
  };

  // Who waits for a stream waits for what that one had waited for.
  void WaitFor(Device* device, absl::Span<const StreamWait> waits) {
    for (const StreamWait& wait : waits) {
      const auto recorded = recorded_.find(wait.event);
      const Key other_key(wait.other_device, wait.other);
      const Recorded other = recorded == recorded_.end()
                                 ? Recorded{other_key, now_, waited_[other_key]}
                                 : recorded->second;
      Times& waited = waited_[Key(device, wait.waiting)];
      for (const auto& [stream, at] : other.after) waited[stream] = std::max(waited[stream], at);
      waited[other.stream] = std::max(waited[other.stream], other.at);
    }
  }

  void Record(int32_t event, const StreamOf& stream) {
    const Key key = KeyOf(stream);
    recorded_[event] = {key, now_, waited_[key]};
  }

  void Copy(const CopyStep& copy) {
    WaitFor(copy.Queues().device, copy.waits());
    Record(copy.event(), copy.Queues());
  }

  void Wait(const WaitStep& wait) {
    const auto recorded = recorded_.find(wait.event());
    if (recorded == recorded_.end()) return;
    Done(recorded->second.stream, recorded->second.at);
    for (const auto& [stream, at] : recorded->second.after) Done(stream, at);
  }
  void Done(const Key& stream, int64_t at) {
    done_[stream] = std::max(done_.try_emplace(stream, 0).first->second, at);
  }

  int64_t now_ = 0;
  Times queued_;                                     // when the last was queued
  absl::flat_hash_map<Key, Times> waited_;           // by waiting stream
  absl::flat_hash_map<int32_t, Recorded> recorded_;  // by event
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
