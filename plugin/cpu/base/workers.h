// The CPU's worker threads. They split one kernel's work over cores.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

namespace tenon {

// A pool of threads that runs one parallel loop at a time.
//
// The calling thread takes part in its loop. Threads take tiles from a shared counter: if another
// process takes a core, the loop waits for one tile, not for a fixed share of the work. The pool's
// threads have FTZ and DAZ set, as TensorFlow's threads have. The calling thread needs a
// DenormalGuard for the same results; the executor's runs have one.
//
// Thread-safe. A second caller, or a loop inside of a loop, finds the pool taken and computes alone
// in its own thread. No caller waits for another.
class Workers {
 public:
  // Starts threads - 1 threads: the caller of a loop counts as one. A number below 1 counts as 1.
  // Where the system gives fewer threads, the pool works with fewer.
  explicit Workers(int threads);
  // Stops and joins the threads. No loop may be running.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // The threads that a loop has, the caller's among them.
  int threads() const { return threads_; }

  // Calls body(begin, end) for disjoint ranges that cover [0, n). Each range has at least `grain`
  // items, except the last; a grain below 1 counts as 1. There are at most 64 ranges; n and `grain`
  // alone determine their bounds. If n <= grain, or there is one thread, or the pool is taken, one
  // call in the calling thread gets [0, n) instead. The result of `body` must therefore not depend
  // on the split. Ranges may run at the same time and in any order.
  //
  // Returns when all ranges are done. If `body` throws in any thread, ParallelFor waits for the
  // ranges that run, then throws that exception (one of them, if there are several) in the calling
  // thread; some ranges may not have run. `body` is not called for n <= 0.
  void ParallelFor(int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t begin, int64_t end)> body);

 private:
  struct Pool;
  int threads_;
  std::unique_ptr<Pool> pool_;
};

// Sets flush-to-zero and denormals-are-zero in this thread for the life of the object. The
// destructor restores the previous control register. Create and destroy it in the same thread.
class DenormalGuard {
 public:
  DenormalGuard();
  ~DenormalGuard();
  DenormalGuard(const DenormalGuard&) = delete;
  DenormalGuard& operator=(const DenormalGuard&) = delete;

 private:
  uint32_t saved_;
};

}  // namespace tenon
