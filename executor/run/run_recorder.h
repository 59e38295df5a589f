// What runs did when, one span per step: for traces and tables. A run that nobody records pays
// nothing for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "plugin/device/device.h"

namespace tenon {

struct Plan;

// A stream of a device, by a name for people.
struct StreamOf {
  Device* device = nullptr;  // null: none
  StreamHandle stream = nullptr;
  std::string_view name;
};

// Times are nanoseconds since the recorder was made.
struct RunSpan {
  struct Step {
    uint32_t index;  // into plan->steps
    int64_t start_ns, stop_ns;
  };
  // What a step queued on a stream.
  struct Queued {
    size_t step;                                    // into steps
    std::shared_ptr<std::atomic<int64_t>> done_ns;  // 0: not yet, or never to be known
  };
  std::shared_ptr<const Plan> plan;
  int lane = 0;            // dense number of the thread that ran it
  int64_t start_ns = 0;    // the plan is looked up, or made
  int64_t planned_ns = 0;  // the run begins
  int64_t stop_ns = 0;
  std::vector<Step> steps;
  std::vector<Queued> queued;
};

// Thread-safe. Keeps the first kMaxSteps spans of steps and forgets the others.
class RunRecorder {
 public:
  static constexpr size_t kMaxSteps = size_t{1} << 20;

  // With `streams` the plug-ins' own callbacks say when the work on their streams was done, which
  // takes them time.
  explicit RunRecorder(bool streams) : streams_(streams) {}

  bool streams() const { return streams_; }
  std::chrono::steady_clock::time_point start() const { return start_; }
  int64_t Now() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
  }
  // How many more spans of steps there is room for.
  size_t Room() const;
  void Add(RunSpan span);
  // In the order in which they ended. Not while runs go on.
  const std::vector<RunSpan>& runs() const { return runs_; }

 private:
  const bool streams_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable absl::Mutex mutex_;
  std::vector<std::thread::id> lanes_ ABSL_GUARDED_BY(mutex_);
  size_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<RunSpan> runs_;
};

// One run while it is recorded, on one thread; handed to the recorder in the end.
class RunRecording {
 public:
  explicit RunRecording(RunRecorder& recorder)
      : recorder_(recorder), room_(recorder.Room()), step_start_(recorder.Now()) {
    span_.start_ns = step_start_;
  }
  void BeginRun(std::shared_ptr<const Plan> plan);
  // The step has ended; it began when the one before it ended.
  void EndStep(size_t index) {
    const int64_t now = recorder_.Now();
    if (span_.steps.size() < room_) {
      span_.steps.push_back({static_cast<uint32_t>(index), step_start_, now});
      if (recorder_.streams()) return AskForEnd();
    }
    step_start_ = now;
  }
  void EndRun();

 private:
  // Of what the last step queued.
  void AskForEnd();

  RunRecorder& recorder_;
  RunSpan span_;
  size_t room_;
  int64_t step_start_;
};

// What step `index` does, and where: an op's name, or "copy to APU:0" and the like of steps that
// are a service to a node; the node's device, as "/device:CPU:0".
struct StepLabel {
  std::string_view node;  // empty: for no node
  std::string what;
  std::string_view device;
};
StepLabel LabelOf(const Plan& plan, uint32_t index);

// Where it queues its work.
StreamOf StreamOfStep(const Plan& plan, uint32_t index);

}  // namespace tenon
