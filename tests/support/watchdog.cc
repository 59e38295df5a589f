#include "tests/support/watchdog.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tenon::testing {

Watchdog::Watchdog(std::chrono::seconds limit, std::string what)
    : thread_([this, limit, what = std::move(what)] {
        std::unique_lock<std::mutex> lock(mutex_);
        const auto until = std::chrono::system_clock::now() + limit;
        if (wake_.wait_until(lock, until, [this] { return over_; })) return;
        std::fprintf(stderr, "no end after %lld s: %s\n", static_cast<long long>(limit.count()),
                     what.c_str());
        std::abort();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

}  // namespace tenon::testing
