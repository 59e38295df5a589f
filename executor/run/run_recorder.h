// Records the time of each step of a run, for traces and tables.
#pragma once

#include <array>
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

// A stream of a device, with a name for people.
struct StreamOf {
  Device* device = nullptr;  // null: none
  StreamHandle stream = nullptr;
  std::string_view name;  // a string literal
};

// One recorded run. Times are nanoseconds since the recorder was made.
struct RunSpan {
  struct Step {
    uint32_t index;  // into plan->steps
    int lane;        // the thread that ran it, as RunSpan::lane
    // On the host. A step begins where the step that ended before it on its thread ended and, if
    // streams are recorded, had queued its callback. The first step of a task begins where the task
    // begins. Without tasks, the first step begins at planned_ns. So the step that runs a branch or
    // a loop begins where the last step within it ended.
    int64_t start_ns, stop_ns;
  };
  // Work that a step queued on a stream.
  struct Queued {
    size_t step;                                    // into steps
    std::shared_ptr<std::atomic<int64_t>> done_ns;  // 0: not done yet, or the end is unknown
  };
  std::shared_ptr<const Plan> plan;
  int lane = 0;          // the thread that called it: 0, 1, … in the order in which threads came
  int64_t start_ns = 0;  // the search for the plan begins; it includes making a new one
  int64_t planned_ns = 0;   // the run begins
  int64_t stop_ns = 0;      // the run has ended
  std::vector<Step> steps;  // in the order in which they ended; a loop's steps once for each pass
  std::vector<Queued> queued;
  // The largest lane of the run and of its steps.
  int last_lane() const;
  bool whole = true;  // false if the run failed, or the recorder had no room for all its steps
};

// Collects the spans of all runs. Keeps about the first kMaxSteps steps and drops the later ones; a
// run of which no step is kept has a span without steps. A run may keep as many steps as there is
// room for when its recording is made. So runs that go on at once may together keep more than
// kMaxSteps. Thread-safe, but for runs().
class RunRecorder {
 public:
  static constexpr size_t kMaxSteps = size_t{1} << 20;

  // With `streams`, each step that queues work on a stream gets a host callback behind it, which
  // marks the end of the work. The callbacks slow the streams down.
  explicit RunRecorder(bool streams) : streams_(streams) {}

  bool streams() const { return streams_; }
  std::chrono::steady_clock::time_point start() const { return start_; }
  int64_t Now() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
  }
  // The number of step spans that can still be kept.
  size_t Room() const;
  // The number of the calling thread.
  int Lane();
  void Add(RunSpan span);
  // The runs in the order of Add. Must not be called while a recorded run goes on.
  const std::vector<RunSpan>& runs() const { return runs_; }

 private:
  const bool streams_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable absl::Mutex mutex_;
  std::vector<std::thread::id> lanes_ ABSL_GUARDED_BY(mutex_);
  size_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<RunSpan> runs_;
};

// One run while it is recorded: BeginRun, EndStep for each step, EndRun, which hands the span to
// the recorder. Where tasks run at once, each begins with BeginTask. A recording without EndRun
// leaves nothing. The recorder must outlive this object.
//
// The parameter `lane` is the number of a frame's lane (Frame::number), in [0, kMostLanes), and not
// a lane of the recorder: 0 where there are no tasks. No two threads use one `lane` at once.
class RunRecording {
 public:
  static constexpr int kMostLanes = 64;

  explicit RunRecording(RunRecorder& recorder) : recorder_(recorder), room_(recorder.Room()) {
    span_.start_ns = recorder.Now();
    span_.lane = recorder.Lane();
  }
  // The plan is there, and the run begins.
  void BeginRun(std::shared_ptr<const Plan> plan);
  // The calling thread begins a task. Its steps are those that end in `lane` from now on.
  void BeginTask(int lane);
  // Step `index` of plan->steps has ended. Takes as its beginning the end of the step before it.
  void EndStep(size_t index, int lane) {
    Log& log = logs_[lane];
    const int64_t now = recorder_.Now();
    if (steps_.fetch_add(1, std::memory_order_relaxed) < room_) {
      log.steps.push_back({static_cast<uint32_t>(index), log.thread, log.step_start, now});
      if (recorder_.streams()) return AskForEnd(log);
    }
    log.step_start = now;
  }
  // `whole`: the run did not fail.
  void EndRun(bool whole);

 private:
  // What one lane has recorded.
  struct Log {
    std::vector<RunSpan::Step> steps;
    std::vector<RunSpan::Queued> queued;  // by the lane's own steps
    int64_t step_start = 0;               // the end of the last step, in ns
    int thread = 0;
  };
  // Queues a callback that notes the end of the work that the log's last step has queued.
  void AskForEnd(Log& log);

  RunRecorder& recorder_;
  RunSpan span_;
  const size_t room_;             // the number of steps that this run may record
  std::atomic<size_t> steps_{0};  // that have ended
  std::array<Log, kMostLanes> logs_;
};

// The description of a step for people. Views refer to the plan's graph.
struct StepLabel {
  std::string_view node;    // its node's name; empty: the step belongs to no node
  std::string what;         // the node's op; of a copy, a wait and the like: what the step does
  std::string places;       // where the program made the node, "train.cc:42"; empty: it did not say
  std::string_view device;  // the node's device, as "/device:CPU:0"; empty: none
};
StepLabel LabelOf(const Plan& plan, uint32_t index);

// The stream on which step `index` queues its work; without a device if it queues none.
StreamOf StreamOfStep(const Plan& plan, uint32_t index);

}  // namespace tenon
