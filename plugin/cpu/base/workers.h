// The CPU's worker threads. They share the tiles of kernels and the tasks of runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"

namespace tenon {

// A pool of threads for any number of parallel loops and of runs at once.
//
// The calling thread takes part in its loop. Threads take tiles from a shared counter: if another
// process takes a core, the loop waits for one tile, not for a fixed share of the work. The pool's
// threads have FTZ and DAZ set, as TensorFlow's threads have. The calling thread needs a
// DenormalGuard for the same results; the executor's runs have one.
//
// Each thread that runs a graph (Runner) takes the place of one thread of the pool. So no more than
// threads() threads compute at once, but in three cases: more than threads() graphs run at once; a
// graph has just begun, and a thread of the pool is still at the work that it began before; or a
// thread computes without a Runner, as brief runs do.
//
// Thread-safe. Loops of several callers, and loops inside of loops and tasks, share the threads. A
// caller whose loop has no tile left waits only for the tiles that run.
class Workers {
 public:
  class Pool;  // private to workers.cc

  // Starts threads - 1 threads: the caller of a loop counts as one. A number below 1 counts as 1.
  // Where the system gives fewer threads, the pool works with fewer.
  //
  // `cores` has an entry for each thread, the caller's first: the cores that this thread may run on
  // (ThreadPlaces::cores). A thread without an entry or with an empty one runs anywhere, and so
  // does a thread that the system does not let run on its cores.
  explicit Workers(int threads, std::vector<std::vector<int>> cores = {});
  // Stops and joins the threads. No loop may be running; no Runner, CallerPlace or Crew may exist.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // The most threads that work on one loop, the caller's among them, but in the three cases above.
  int threads() const { return threads_; }

  // Whether no thread of the pool would help a run that began now: as many graphs run, or ran at
  // once a moment ago, as there are threads. False of a pool for one thread.
  bool is_crowded() const;

  // Calls body(begin, end) for disjoint ranges that cover [0, n). Each range has at least `grain`
  // items, except the last; a grain below 1 counts as 1. There are at most 64 ranges; n and `grain`
  // alone determine their bounds. One call in the calling thread gets [0, n) instead in two cases:
  // if n <= grain, and if no thread of the pool may help (there is none, or as many graphs run, or
  // ran at once a moment ago, as there are threads) while nothing may end the run (RunLimits). The
  // result of `body` must therefore not depend on the split. Ranges may run at the same time and in
  // any order. If no thread of the pool may help, or if 64 loops and crews are open, all ranges run
  // in the calling thread.
  //
  // Once the run on the calling thread is to end, no further range begins; if ranges are left,
  // ParallelFor throws RunEnded. A call with n <= grain does not look at this.
  //
  // Returns when all ranges are done. If `body` throws in any thread, ParallelFor waits for the
  // ranges that run, then throws that exception (one of them, if there are several) in the calling
  // thread; some ranges may not have run. `body` is not called for n <= 0.
  void ParallelFor(int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t begin, int64_t end)> body);

  // Marks the calling thread as one that computes, for the life of the object, but for the time of
  // a Pause (run_limits.h). Objects may be nested, on threads of the pool too; only the outermost
  // counts. Create and destroy it in the same thread.
  class Runner {
   public:
    explicit Runner(Workers& workers);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

   private:
    const bool counts_;
  };

  // Binds the calling thread to the first entry of the constructor's `cores` for the life of the
  // object, as a run does; the destructor binds the thread to its previous cores. Threads that the
  // bound thread starts meanwhile have its cores too. Does nothing if that entry is empty, if the
  // system does not tell the previous cores, or while another caller has the place: callers at once
  // do not crowd one core. Create and destroy it in the same thread.
  class CallerPlace {
   public:
    explicit CallerPlace(Workers& workers) {
      if (!workers.caller_cores_.empty()) Take(workers);
    }
    ~CallerPlace() {
      if (workers_ != nullptr) GiveBack();
    }
    CallerPlace(const CallerPlace&) = delete;
    CallerPlace& operator=(const CallerPlace&) = delete;

   private:
    void Take(Workers& workers);
    void GiveBack();

    Workers* workers_ = nullptr;  // null: the place was not taken
    std::vector<int> before_;
  };

  // Tells the pool that a crew has new work for up to `threads` more threads, or is done. `threads`
  // may be 0 for a crew that is done. Wakes up to `threads` sleeping threads of the pool, and all
  // threads that sleep in Crew::Work. Threads that wake look for work again.
  void Call(int threads);

  // Threads that work for one run, whose work comes piece by piece.
  class Crew {
   public:
    // Idle threads of the pool call `help`, several at once, until the crew is destroyed. `help`
    // does the work that there is, returns whether there was any, and must not throw. `help` must
    // outlive the crew. If the pool has no threads, or 64 loops and crews are open, only Work calls
    // `help`.
    Crew(Workers& workers, absl::FunctionRef<bool()> help);
    // Waits until no thread is in `help`.
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Works until `done` returns true: calls `help`, and while `help` has no work takes part in the
    // loops of other threads. Sleeps if nothing comes for some time: who makes `done` true must
    // therefore call Workers::Call afterwards. In a pool that was made for one thread it never
    // sleeps, but calls `help` again and again. For one thread at a time.
    void Work(absl::FunctionRef<bool()> done);

   private:
    Workers& workers_;
    absl::FunctionRef<bool()> help_;
    int place_ = -1;  // among the pool's open jobs; -1: none
  };

 private:
  int threads_;
  std::vector<int> caller_cores_;  // empty: any
  std::atomic<bool> caller_is_placed_{false};
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
