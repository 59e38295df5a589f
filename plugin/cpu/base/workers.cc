// A pool of threads. Loops and crews are jobs in a table of 64 places; a thread joins each open job
// that it finds, spins for a short time when there is none, then sleeps.
#include "plugin/cpu/base/workers.h"

#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "graph/c_api/callback_scope.h"
#include "plugin/cpu/base/thread_places.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

// A parked thread takes 5 to 50 us to wake up. A thread that has just worked is likely to be needed
// again soon, so it spins about as long as waking would take.
constexpr auto kSpin = std::chrono::microseconds(50);
constexpr int64_t kPeriod = 200'000;  // nanoseconds; Pool::Expected
// Enough tiles to level out cores of different speed, few enough to keep the shared counter cool.
constexpr int64_t kMaxTiles = 64;
constexpr int kMaxJobs = 64;             // a bit of a word for each
constexpr uint32_t kFlushBits = 0x8040;  // FTZ and DAZ of the control register MXCSR

// Spins for a moment, then lets other threads of the machine run.
class Patience {
 public:
  void Wait() {
    if (++spins_ < 1000) {
      _mm_pause();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  int spins_ = 0;
};

// The tiles of one loop, and the limits of the run that it belongs to.
class Loop {
 public:
  Loop(int64_t n, int64_t tile, absl::FunctionRef<void(int64_t, int64_t)> body,
       const RunLimits* limits)
      : n_(n), tile_(tile), body_(body), limits_(limits) {}

  // Runs tiles until none is left. False if there was none.
  bool Work() {
    bool worked = false;
    const LimitsScope scope(limits_);  // for loops and waits within a tile
    try {
      for (;; worked = true) {
        const int64_t begin = next_.fetch_add(tile_, std::memory_order_relaxed);
        if (begin >= n_) return worked;
        if (limits_ != nullptr && limits_->is_over()) throw RunEnded(limits_->Check());
        body_(begin, std::min(begin + tile_, n_));
      }
    } catch (...) {     // bad_alloc, RunEnded; Rethrow throws it again in the calling thread
      next_.store(n_);  // no thread takes another tile
      const std::lock_guard<std::mutex> lock(mutex_);
      thrown_ = std::current_exception();
    }
    return true;
  }
  // When no thread works on the loop any more.
  void Rethrow() {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }

 private:
  alignas(64) std::atomic<int64_t> next_{0};  // all threads write it
  alignas(64) const int64_t n_;
  const int64_t tile_;
  const absl::FunctionRef<void(int64_t, int64_t)> body_;
  const RunLimits* const limits_;
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

namespace {
// Whether the thread has a place among those that compute.
thread_local bool has_place = false;
// The pool that counts the thread as a runner.
thread_local Workers::Pool* counted_in = nullptr;
}  // namespace

// Threads look whether a job is open and announce themselves in `inside` before they touch it; its
// owner closes the job and waits for `inside` to drop to zero. Both sides use sequentially
// consistent atomics: either the thread sees the job closed or the owner sees the thread.
class Workers::Pool {
 public:
  using Help = absl::FunctionRef<bool()>;
  enum class Kind { kLoop, kCrew };

  Pool(int count, std::vector<std::vector<int>> cores)
      : cores_(std::move(cores)), num_threads_(count) {
    try {
      for (int i = 0; i < count; ++i) threads_.emplace_back([this, i] { Serve(i); });
    } catch (const std::exception&) {  // no more threads or no memory for them: fewer do as well
      num_threads_.store(static_cast<int>(threads_.size()));
    }
  }

  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      quit_.store(true);
    }
    sleepers_.wake.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  int threads() const { return num_threads_.load(std::memory_order_relaxed); }

  // Counts this thread among the runners, until Uncount. Threads race for what is noted of the last
  // runs: nothing but speed follows from it.
  void Count() {
    CountComputing(&runners_);
    const int runs = runs_.fetch_add(1, std::memory_order_relaxed) + 1;
    const int64_t now = Now(), end = period_end_.load(std::memory_order_relaxed);
    if (now >= end) {
      most_before_.store(now < end + kPeriod ? most_.load(std::memory_order_relaxed) : 0,
                         std::memory_order_relaxed);
      most_.store(runs, std::memory_order_relaxed);
      period_end_.store(now + kPeriod, std::memory_order_relaxed);
    } else if (runs > most_.load(std::memory_order_relaxed)) {
      most_.store(runs, std::memory_order_relaxed);
    }
  }
  void Uncount() {
    runs_.fetch_sub(1, std::memory_order_relaxed);
    CountComputing(nullptr);
  }
  // How many threads of the pool may work beside the runners, of which the caller is one whether it
  // is counted or not.
  int helpers() const {
    return threads() + 1 - std::max(runners_.load(std::memory_order_relaxed) + Expected(), 1);
  }

  // Opens a job, which `help` works on; returns its place, or -1 if all places are taken.
  int Open(Kind kind, const Help& help) {
    uint64_t free = free_.load();
    do {
      if (free == 0) return -1;
    } while (!free_.compare_exchange_weak(free, free & (free - 1)));
    const int place = std::countr_zero(free);
    jobs_[place].help = &help;
    open_[static_cast<int>(kind)].fetch_or(uint64_t{1} << place);
    return place;
  }

  // Returns when no thread is in the job's function.
  void Close(Kind kind, int place) {
    open_[static_cast<int>(kind)].fetch_and(~(uint64_t{1} << place));
    for (Patience patience; jobs_[place].inside.load() != 0;) patience.Wait();
    free_.fetch_or(uint64_t{1} << place);
  }

  // Makes `count` idle threads look for work, and all who wait in Crew::Work.
  void Call(int count) {
    round_.fetch_add(1);
    // As many threads as may help are awake already, if runs took the places of others.
    const int asleep = sleepers_.waiting.load();
    const int wakes = std::min({count, asleep, helpers() - (threads() - asleep)});
    if (wakes <= 0 && owners_.waiting.load() == 0) return;
    // Taking the lock makes sure that a thread on its way to sleep has either seen the round or is
    // asleep.
    { const std::lock_guard<std::mutex> lock(mutex_); }
    owners_.wake.notify_all();
    for (int i = 0; i < wakes; ++i) sleepers_.wake.notify_one();
  }

  // Takes part in the open jobs of a kind. `first`: where to begin, so that threads spread. Returns
  // whether there was work.
  bool Join(Kind kind, int first) {
    const std::atomic<uint64_t>& open = open_[static_cast<int>(kind)];
    bool worked = false;
    for (uint64_t left = std::rotr(open.load(), first); left != 0; left &= left - 1) {
      const int place = (std::countr_zero(left) + first) % kMaxJobs;
      Job& job = jobs_[place];
      // Announced before the job is seen open for good: its owner closes it first and then waits
      // for the announcements.
      job.inside.fetch_add(1);
      if ((open.load() >> place & 1) != 0) worked |= (*job.help)();
      job.inside.fetch_sub(1);
    }
    return worked;
  }

  uint64_t round() const { return round_.load(); }

  struct Bed {
    std::atomic<int> waiting{0};
    std::condition_variable wake;
  };
  Bed& owners() { return owners_; }

  // Waits for another round than `seen`, or for `done`, for a short time. False if neither came.
  template <typename Done>
  bool Spin(uint64_t seen, const Done& done) {
    const auto until = std::chrono::steady_clock::now() + kSpin;
    do {
      // Reading the clock costs more than a look at the counters, so 64 looks share one reading.
      for (int i = 0; i < 64; ++i) {
        if (round_.load() != seen || done()) return true;
        _mm_pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  // Waits for another round than `seen`, or for `done`.
  template <typename Done>
  void Sleep(uint64_t seen, const Done& done, Bed& bed) {
    std::unique_lock<std::mutex> lock(mutex_);
    bed.waiting.fetch_add(1);
    bed.wake.wait(lock, [&] { return round_.load() != seen || done(); });
    bed.waiting.fetch_sub(1);
  }

 private:
  struct alignas(64) Job {
    std::atomic<int> inside{0};
    const Help* help = nullptr;
  };

  static int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  // How many runs more there were at once in this period or the one before. Who has ended a run
  // mostly begins the next one soon: a thread of the pool that was woken for the time between would
  // take the core from it.
  int Expected() const {
    const int most = std::max(most_before_.load(std::memory_order_relaxed),
                              most_.load(std::memory_order_relaxed));
    const int more = most - runs_.load(std::memory_order_relaxed);
    return more > 0 && Now() < period_end_.load(std::memory_order_relaxed) ? more : 0;
  }

  // Whether a thread of the pool may look for work now. To be followed by a decrement of helping_.
  bool Enter() {
    if (helping_.fetch_add(1) < helpers()) return true;
    helping_.fetch_sub(1);
    return false;
  }

  void Serve(int number) {
    MarkHostThread();
    // The first entry is the caller's. A thread that may not go there works where it is.
    if (const size_t own = static_cast<size_t>(number) + 1; own < cores_.size())
      BindThread(cores_[own]);
    has_place = true;
    DenormalGuard flush;
    const auto quits = [this] { return quit_.load(); };
    while (!quits()) {
      const uint64_t seen = round_.load();
      // A run's tasks come before tiles: they need no other thread to end.
      const bool may_help = Enter();
      if (may_help) {
        const bool worked = Join(Kind::kCrew, number) || Join(Kind::kLoop, number);
        helping_.fetch_sub(1);
        if (worked) continue;
      }
      // Who may not help leaves the core to a runner at once.
      if (!may_help || !Spin(seen, quits)) Sleep(seen, quits, sleepers_);
    }
  }

  const std::vector<std::vector<int>> cores_;  // by thread of Workers
  std::vector<std::thread> threads_;
  std::atomic<int> num_threads_;  // known to the first threads before the last are there
  std::array<std::atomic<uint64_t>, 2> open_{};  // by Kind: a bit for each job
  std::atomic<uint64_t> free_{~uint64_t{0}};
  std::atomic<bool> quit_{false};
  std::mutex mutex_;
  Bed sleepers_, owners_;  // threads of the pool, and callers of Crew::Work
  alignas(64) std::atomic<uint64_t> round_{0};
  alignas(64) std::atomic<int> runners_{0};
  std::atomic<int> runs_{0};  // as runners_, but with those that wait (Pause)
  // The most runs at once in this period, which lasts until Now is period_end_, and the one before.
  std::atomic<int> most_{0}, most_before_{0};
  std::atomic<int64_t> period_end_{0};
  std::atomic<int> helping_{0};
  std::array<Job, kMaxJobs> jobs_;
};

Workers::Workers(int threads, std::vector<std::vector<int>> cores)
    : threads_(std::max(threads, 1)) {
  if (!cores.empty()) caller_cores_ = cores.front();
  if (threads_ == 1) return;
  pool_ = std::make_unique<Pool>(threads_ - 1, std::move(cores));
  threads_ = pool_->threads() + 1;
}

Workers::~Workers() = default;

bool Workers::is_crowded() const { return pool_ != nullptr && pool_->helpers() <= 0; }

void Workers::ParallelFor(int64_t n, int64_t grain,
                          absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) return body(0, n);
  const RunLimits* const limits = LimitsOfThread();
  const bool may_end = limits != nullptr && limits->may_end();
  const bool alone = pool_ == nullptr || pool_->helpers() <= 0;
  if (alone && !may_end) return body(0, n);
  const int64_t tile = std::max(grain, (n + kMaxTiles - 1) / kMaxTiles);
  Loop loop(n, tile, body, limits);
  const auto work = [&loop] { return loop.Work(); };
  const Pool::Help help(work);
  const int place = alone ? -1 : pool_->Open(Pool::Kind::kLoop, help);
  if (place >= 0)
    pool_->Call(static_cast<int>(std::min<int64_t>((n + tile - 1) / tile - 1, kMaxTiles)));
  loop.Work();
  // A thread that enters later must not find the loop, which dies with this call.
  if (place >= 0) pool_->Close(Pool::Kind::kLoop, place);
  loop.Rethrow();
}

Workers::Runner::Runner(Workers& workers) : counts_(!has_place && workers.pool_ != nullptr) {
  if (!counts_) return;
  has_place = true;
  counted_in = workers.pool_.get();
  counted_in->Count();
}

Workers::Runner::~Runner() {
  if (!counts_) return;
  std::exchange(counted_in, nullptr)->Uncount();
  has_place = false;
}

Workers::Crew::Crew(Workers& workers, absl::FunctionRef<bool()> help)
    : workers_(workers), help_(help) {
  if (workers.pool_ != nullptr) place_ = workers.pool_->Open(Pool::Kind::kCrew, help_);
}

Workers::Crew::~Crew() {
  if (place_ >= 0) workers_.pool_->Close(Pool::Kind::kCrew, place_);
}

void Workers::CallerPlace::Take(Workers& workers) {
  if (workers.caller_is_placed_.exchange(true)) return;
  workers_ = &workers;
  before_ = CoresOfThread();
  // Cores that are not known could not come back.
  if (!before_.empty()) BindThread(workers.caller_cores_);
}

void Workers::CallerPlace::GiveBack() {
  BindThread(before_);
  workers_->caller_is_placed_.store(false);
}

void Workers::Call(int threads) {
  if (pool_ != nullptr) pool_->Call(threads);
}

void Workers::Crew::Work(absl::FunctionRef<bool()> done) {
  while (!done()) {
    if (workers_.pool_ == nullptr) {
      help_();
      continue;
    }
    const uint64_t seen = workers_.pool_->round();
    if (help_() || workers_.pool_->Join(Pool::Kind::kLoop, 0)) continue;
    if (!workers_.pool_->Spin(seen, done))
      workers_.pool_->Sleep(seen, done, workers_.pool_->owners());
  }
}

DenormalGuard::DenormalGuard() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | kFlushBits); }
DenormalGuard::~DenormalGuard() { _mm_setcsr(saved_); }

}  // namespace tenon
