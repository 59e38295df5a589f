// Runs the tasks of a plan on several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/frame.h"
#include "executor/run/plan.h"
#include "plugin/cpu/base/workers.h"

namespace tenon {

// Runs all tasks of the frame's plan, on the calling thread and those of the context's Workers, at
// most RunRecording::kMostLanes at once. Each task begins when the tasks that it waits for have
// ended; of those that may begin, the most urgent one does first. The frame's run must have begun,
// and its plan must have tasks.
//
// Of several errors the one of the lowest place is returned: of the node (Plan::places), or of the
// step (Plan::step_places) where the plan has no `places` or the step has no node. So after an
// error the steps of lower places still run, unless the run is to end (Frame::CheckLimits). Tasks
// that run meanwhile go on to their own end or error, in steps of higher places too. The frame's
// node() is then the node of the error. The error does not name the node.
absl::Status RunTasks(Frame& frame);

// What a frame needs for RunTasks, kept from run to run: a run with no more threads than those
// before it allocates nothing. The plan must outlive the object.
class TaskState {
 public:
  explicit TaskState(const Plan& plan);
  TaskState(const TaskState&) = delete;
  TaskState& operator=(const TaskState&) = delete;

  // RunTasks of the frame that owns this object.
  absl::Status Run(Frame& frame);
  // The sum of Frame::TakeReused of all lanes.
  int64_t TakeReused();

 private:
  static constexpr uint32_t kNoPlace = std::numeric_limits<uint32_t>::max();

  void Begin(Frame& frame);
  // Runs tasks until none is ready. False if there was none.
  bool Help(Workers& workers);
  void RunTask(Frame& lane, int32_t task);
  void RunEarlier(Frame& lane, uint32_t begin, uint32_t end);
  void Fail(const Frame& lane, absl::Status status);
  // Ends a task: its followers may become ready. Returns how many.
  int EndTask(int32_t task);
  bool HasReady() const;
  int32_t TakeReady();
  void AddReady(int32_t task) {
    ready_[task / 64].fetch_or(uint64_t{1} << (task % 64), std::memory_order_release);
  }
  bool done() const { return left_.load() == 0; }

  using Bits = std::atomic<uint64_t>;

  const Plan& plan_;
  const size_t words_;                             // of ready_
  std::unique_ptr<std::atomic<int32_t>[]> waits_;  // by task: the tasks that it still waits for
  std::unique_ptr<Bits[]> ready_;                  // a bit for each task
  std::atomic<int32_t> left_{0};                   // tasks that have not ended
  std::vector<std::unique_ptr<Frame>> lanes_;      // one for each thread that may help
  Bits free_lanes_{0};                             // a bit for each of lanes_
  std::atomic<uint32_t> failed_place_{kNoPlace};   // the lowest place of an error
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // the error of that place
  NodeId failed_node_ ABSL_GUARDED_BY(mutex_) = kNoNode;
};

}  // namespace tenon
