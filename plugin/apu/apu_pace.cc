#include "apu_pace.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "apu_clock.h"

namespace apu {
namespace {

double Number(const char* variable, double least, double most, double otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  double value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  const bool fits = stop == end && error == std::errc() && value >= least && value <= most;
  return fits ? value : otherwise;
}

}  // namespace

const Pace& Pace::Get() {
  static const Pace pace;
  return pace;
}

Pace::Pace()
    : compute_us_(Number("compute_us", 0, 1e7, 0)),
      copy_gbps_(Number("copy_gbps", 1e-6, 1e6, 0)),
      pageable_gbps_(Number("pageable_gbps", 1e-6, 1e6, 0)),
      jitter_(Number("jitter", 0, 1, 0)),
      devices_(static_cast<int>(Number("devices", 1, 16, 1))),
      host_memory_(static_cast<uint64_t>(Number("host_memory", 0, 1e15, 1e15))) {}

std::chrono::nanoseconds Pace::WithJitter(double ns) const {
  if (jitter_ > 0) {
    // The fractional parts of multiples of the golden ratio lie evenly in [0, 1).
    const double draw =
        static_cast<double>(draws_.fetch_add(1, std::memory_order_relaxed)) * 0.6180339887498949;
    ns *= 1 + jitter_ * (2 * (draw - static_cast<double>(static_cast<uint64_t>(draw))) - 1);
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(ns));
}

Paced::~Paced() {
  if (VirtualClock* const clock = VirtualClock::Get()) {
    clock->Work(kind_, lasts_);
    return;
  }
  if (lasts_.count() <= 0) return;
  // Sleeping is late by some 50 us; a short rest is spent on asking the clock.
  constexpr auto kLate = std::chrono::microseconds(60);
  if (until_ - Clock::now() > 2 * kLate) std::this_thread::sleep_until(until_ - kLate);
  while (Clock::now() < until_) std::this_thread::yield();
}

}  // namespace apu
