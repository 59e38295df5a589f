// The idle frames of a plan, kept for its next runs.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/frame.h"

namespace tenon {

// Owns the idle frames. All frames belong to one plan, which must outlive the pool. The pool never
// frees a frame: it holds as many as ever ran at once. Thread-safe.
class FramePool {
 public:
  // Hands an idle frame to the caller; makes a new one if none is idle. Errors are those of
  // Frame::Create.
  absl::StatusOr<std::unique_ptr<Frame>> Take(const Plan& plan);
  // Takes a frame back. Its run must have ended (Frame::End).
  void Return(std::unique_ptr<Frame> frame);

 private:
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Frame>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
