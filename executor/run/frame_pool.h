// The frames of a plan that wait for its next run.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/frame.h"

namespace tenon {

// Thread-safe. Lives no longer than the plan that its frames are of.
class FramePool {
 public:
  // One that waits; a new one when all others are busy. Errors are those of Frame::Create.
  absl::StatusOr<std::unique_ptr<Frame>> Take(const Plan& plan);
  void Return(std::unique_ptr<Frame> frame);

 private:
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Frame>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
