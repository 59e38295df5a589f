// How long the device takes: nothing beside the work itself, or what the environment says, so that
// the device can stand for a real one when overlap is tested and shown.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace apu {

// Read once from the variables `compute_us` (of each kernel, 0 to 10^7), `copy_gbps` (of each copy,
// in 10^9 bytes a second, 10^-6 to 10^6), `pageable_gbps` (likewise, of copies to and from host
// memory that is not of host_memory_allocate), `jitter` (0 to 1: each time is longer or shorter by
// up to that part of it, by a fixed series of numbers), `devices` (how many there are, 1 to 16; a
// fraction is dropped) and `host_memory` (the most bytes that host_memory_allocate gives in all, 0
// to 10^15). A variable that is not set, or that is no such number, changes nothing. Thread-safe.
class Pace {
 public:
  static const Pace& Get();

  int devices() const { return devices_; }
  uint64_t host_memory() const { return host_memory_; }
  // How long the next kernel, or the next copy of that many bytes, takes in all.
  std::chrono::nanoseconds OfKernel() const { return WithJitter(compute_us_ * 1e3); }
  std::chrono::nanoseconds OfCopy(uint64_t bytes) const { return At(copy_gbps_, bytes); }
  // `is_pinned`: the host's side is memory of host_memory_allocate.
  std::chrono::nanoseconds OfHostCopy(uint64_t bytes, bool is_pinned) const {
    return At(is_pinned || pageable_gbps_ <= 0 ? copy_gbps_ : pageable_gbps_, bytes);
  }

 private:
  Pace();
  std::chrono::nanoseconds WithJitter(double ns) const;
  std::chrono::nanoseconds At(double gbps, uint64_t bytes) const {
    return WithJitter(gbps > 0 ? static_cast<double>(bytes) / gbps : 0);
  }

  double compute_us_, copy_gbps_, pageable_gbps_, jitter_;
  int devices_;
  uint64_t host_memory_;
  mutable std::atomic<uint64_t> draws_{0};
};

// A piece of a stream's work. Sleeps on destruction until the time since construction is what the
// pace says; with a VirtualClock moves that on instead, under the name `kind`.
class Paced {
 public:
  Paced(const char* kind, std::chrono::nanoseconds lasts)
      : kind_(kind), until_(Clock::now() + lasts), lasts_(lasts) {}
  ~Paced();
  Paced(const Paced&) = delete;
  Paced& operator=(const Paced&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  const char* const kind_;
  const Clock::time_point until_;
  const std::chrono::nanoseconds lasts_;
};

}  // namespace apu
