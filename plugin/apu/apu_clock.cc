#include "apu_clock.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace apu {
namespace {

thread_local int64_t stream_time = 0;

}  // namespace

VirtualClock* VirtualClock::Get() {
  static const char* const path = std::getenv("clock_log");
  if (path == nullptr || *path == '\0') return nullptr;
  static VirtualClock clock(path);
  return &clock;
}

int64_t VirtualClock::host() const {
  std::lock_guard lock(mutex_);
  return host_;
}

void VirtualClock::HostSees(int64_t time) {
  std::lock_guard lock(mutex_);
  host_ = std::max(host_, time);
}

void VirtualClock::Log(const std::string& line) {
  std::lock_guard lock(mutex_);
  std::ofstream(path_, std::ios::app) << line << '\n';
}

int64_t VirtualClock::stream() { return stream_time; }

void VirtualClock::NotBefore(int64_t time) { stream_time = std::max(stream_time, time); }

void VirtualClock::Work(const char* kind, std::chrono::nanoseconds lasts) {
  const int64_t begin = stream_time;
  stream_time += lasts.count();
  Log(std::string(kind) + ' ' + std::to_string(begin) + ' ' + std::to_string(stream_time));
}

}  // namespace apu
