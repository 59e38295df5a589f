// The CPU's worker threads: splits one kernel's work over cores.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

namespace tenon {

// A pool that runs one parallel loop at a time; a second caller computes alone in its own thread.
// Threads have FTZ and DAZ set, as TensorFlow's have. The calling thread takes part, so a stolen
// core costs a tile, not the loop.
class Workers {
 public:
  // `threads` in all, the caller among them; >= 1.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) for disjoint ranges that cover [0, n), each of at least `grain` items
  // except the last. The split does not depend on timing, only on n and grain, so that results do
  // not either. Returns when all are done. n <= grain or one thread: one call in the calling
  // thread.
  void ParallelFor(int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t begin, int64_t end)> body);

 private:
  struct Pool;
  int threads_;
  std::unique_ptr<Pool> pool_;
};

// Sets flush-to-zero and denormals-are-zero in this thread for the life of the object, and restores
// what was before.
class DenormalGuard {
 public:
  DenormalGuard();
  ~DenormalGuard();

 private:
  uint32_t saved_;
};

}  // namespace tenon
