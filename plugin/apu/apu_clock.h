// A clock that counts how long work would take instead of waiting for it, so that tests can tell
// what overlaps without a stop-watch.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace apu {

// Each stream has a time of its own, and the host has one. Work begins when its stream is free, but
// not before the host has queued it. A stream that waits for another goes on at that one's time,
// and so does the host when it learns that work is done. The host's own work takes no time.
//
// There is such a clock if the environment variable `clock_log` names a file. A line is then added
// to the file for each piece of work, "kernel BEGIN END", "to_device BEGIN END", "to_host BEGIN
// END" or "within BEGIN END", in nanoseconds, and a line "host_memory BYTES" for each call of
// host_memory_allocate. Thread-safe, but for the functions of a stream's thread, which concern that
// thread alone.
class VirtualClock {
 public:
  static VirtualClock* Get();  // null: work takes real time

  int64_t host() const;
  // The host has learnt that work which ended then is done.
  void HostSees(int64_t time);
  void Log(const std::string& line);

  // For the thread of a stream: its time, and what moves it on.
  static int64_t stream();
  static void NotBefore(int64_t time);
  void Work(const char* kind, std::chrono::nanoseconds lasts);

 private:
  explicit VirtualClock(const char* path) : path_(path) {}

  // Nothing here needs a destructor: at exit a stream's thread may still use the clock.
  const char* const path_;
  mutable std::mutex mutex_;
  int64_t host_ = 0;
};

}  // namespace apu
