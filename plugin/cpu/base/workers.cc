// A pool of threads for one parallel loop at a time. Threads take tiles from an atomic counter,
// spin for a short time after a loop, then sleep.
#include "plugin/cpu/base/workers.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

// A parked thread takes 5 to 50 us to wake up. A thread that has just worked is likely to be needed
// again soon, so it spins about as long as waking would take.
constexpr auto kSpin = std::chrono::microseconds(50);
// Enough tiles to level out cores of different speed, few enough to keep the shared counter cool.
constexpr int64_t kMaxTiles = 64;
constexpr uint32_t kFlushBits = 0x8040;  // FTZ and DAZ of the control register MXCSR

}  // namespace

// Threads look at `open` and announce themselves in `inside` before they touch the loop; the caller
// closes the loop and waits for `inside` to drop to zero. Both sides use sequentially consistent
// atomics: either the thread sees the loop closed or the caller sees the thread.
struct Workers::Pool {
  std::vector<std::thread> threads;
  std::atomic<bool> taken{false};  // some caller owns the pool
  std::atomic<bool> open{false};   // the loop below may be entered
  std::atomic<bool> quit{false};
  std::atomic<int> inside{0};
  std::atomic<int> parked{0};
  std::atomic<uint64_t> round{0};
  std::mutex mutex;
  std::condition_variable wake;

  // Apart from the fields above, which waiting threads read in every spin: all threads write
  // `next`.
  alignas(64) std::atomic<int64_t> next{0};
  int64_t n = 0;
  int64_t tile = 0;
  const absl::FunctionRef<void(int64_t, int64_t)>* body = nullptr;
  std::exception_ptr thrown;  // by the body, under `mutex` while threads are inside

  void Start(int count) {
    try {
      for (int i = 0; i < count; ++i) threads.emplace_back([this] { Serve(); });
    } catch (const std::system_error&) {  // the system has no more threads: fewer do as well
    }
  }

  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      quit.store(true);
    }
    wake.notify_all();
    for (std::thread& t : threads) t.join();
  }

  void Work() {
    try {
      for (;;) {
        const int64_t begin = next.fetch_add(tile, std::memory_order_relaxed);
        if (begin >= n) return;
        (*body)(begin, std::min(begin + tile, n));
      }
    } catch (...) {   // usually bad_alloc; Run() throws it again in the calling thread
      next.store(n);  // no thread takes another tile
      std::lock_guard<std::mutex> lock(mutex);
      thrown = std::current_exception();
    }
  }

  // Waits for another round than `seen`: spins first, then sleeps.
  uint64_t AwaitRound(uint64_t seen) {
    const auto until = std::chrono::steady_clock::now() + kSpin;
    do {
      // Reading the clock costs more than a look at the counters, so 64 looks share one reading.
      for (int i = 0; i < 64; ++i) {
        if (round.load() != seen || quit.load()) return round.load();
        _mm_pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    std::unique_lock<std::mutex> lock(mutex);
    parked.fetch_add(1);
    wake.wait(lock, [&] { return round.load() != seen || quit.load(); });
    parked.fetch_sub(1);
    return round.load();
  }

  void Serve() {
    MarkHostThread();
    DenormalGuard flush;
    uint64_t seen = 0;
    while (!quit.load()) {
      // Announced before `open` is read: Run closes the loop first and then waits for the
      // announcements.
      inside.fetch_add(1);
      if (open.load()) Work();
      inside.fetch_sub(1);
      seen = AwaitRound(seen);
    }
  }

  void Run(int64_t items, int64_t tile_size, const absl::FunctionRef<void(int64_t, int64_t)>& f) {
    n = items;
    tile = tile_size;
    body = &f;
    // No thread reads these plain fields now: `open` is false since the last loop, and `inside` was
    // 0 after it. `open` below publishes them.
    next.store(0);
    open.store(true);
    round.fetch_add(1);
    if (parked.load() > 0) {
      // Taking the lock makes sure that a thread on its way to sleep has either seen the round or
      // is asleep.
      { std::lock_guard<std::mutex> lock(mutex); }
      wake.notify_all();
    }
    Work();
    // The counter is used up. A thread that enters later must not find the loop, whose `body` dies
    // with this call.
    open.store(false);
    for (int spins = 0; inside.load() != 0; ++spins) {
      if (spins < 1000) {
        _mm_pause();
      } else {
        std::this_thread::yield();
      }
    }
    const std::exception_ptr failure = std::exchange(thrown, nullptr);
    // The exception is taken out before another caller may own the pool.
    taken.store(false);
    if (failure != nullptr) std::rethrow_exception(failure);
  }
};

Workers::Workers(int threads) : threads_(std::max(threads, 1)) {
  if (threads_ == 1) return;
  pool_ = std::make_unique<Pool>();
  pool_->Start(threads_ - 1);
  threads_ = static_cast<int>(pool_->threads.size()) + 1;
}

Workers::~Workers() {
  if (pool_ != nullptr) pool_->Stop();
}

void Workers::ParallelFor(int64_t n, int64_t grain,
                          absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  // `taken` is tested last, because the exchange already takes the pool.
  if (n <= grain || pool_ == nullptr || pool_->taken.exchange(true)) {
    body(0, n);
    return;
  }
  pool_->Run(n, std::max(grain, (n + kMaxTiles - 1) / kMaxTiles), body);
}

DenormalGuard::DenormalGuard() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | kFlushBits); }
DenormalGuard::~DenormalGuard() { _mm_setcsr(saved_); }

}  // namespace tenon
