// What runs did when, one span per step: for traces and tables. A run that nobody records pays
// nothing for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace tenon {

struct Plan;

// Times are nanoseconds since the recorder was made.
struct RunSpan {
  struct Step {
    uint32_t index;  // into plan->steps
    int64_t start_ns, stop_ns;
  };
  std::shared_ptr<const Plan> plan;
  int lane = 0;            // dense number of the thread that ran it
  int64_t start_ns = 0;    // the plan is looked up, or made
  int64_t planned_ns = 0;  // the run begins
  int64_t stop_ns = 0;
  std::vector<Step> steps;
};

// Thread-safe. Keeps the first kMaxSteps spans of steps and forgets the others.
class RunRecorder {
 public:
  static constexpr size_t kMaxSteps = size_t{1} << 20;

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
    if (span_.steps.size() < room_)
      span_.steps.push_back({static_cast<uint32_t>(index), step_start_, now});
    step_start_ = now;
  }
  void EndRun();

 private:
  RunRecorder& recorder_;
  RunSpan span_;
  size_t room_;
  int64_t step_start_;
};

// A stream of a device: "/device:APU:0" and "compute"; empty: none.
struct StreamName {
  std::string device;
  std::string_view stream;
};

// What step `index` does, and where: an op's name, or "copy to APU:0" and the like of steps that
// are a service to a node; the node's device, as "/device:CPU:0".
struct StepLabel {
  std::string_view node;  // empty: for no node
  std::string what;
  std::string_view device;
  StreamName queue;  // where the step queues work
};
StepLabel LabelOf(const Plan& plan, uint32_t index);

}  // namespace tenon
