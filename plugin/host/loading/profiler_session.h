// Takes one profile: starts the profilers of several plug-ins, stops them, and collects their data.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "plugin/host/loading/profiler.h"

namespace tenon {

namespace pb {
class XSpace;  // proto/xspace.proto
}

// The data of one plug-in's profiler.
struct PluginProfile {
  std::string plugin;                             // path
  std::string device_type;                        // as the plug-in registered it
  std::chrono::steady_clock::time_point started;  // right before `start` was called
  absl::Status status;                // names callback and plug-in, unless memory is short
  std::shared_ptr<pb::XSpace> space;  // never null; empty if `status` is an error
};

// Used by one thread.
class ProfilerSession {
 public:
  explicit ProfilerSession(std::vector<std::shared_ptr<PluginProfiler>> profilers);

  // Calls `start` of each, in order. A profiler that fails is neither stopped nor asked for data.
  // Call it once. A session that has started must be finished: the destructor stops nothing.
  void Start();
  // Calls `stop` of each, then collect_data_xspace of those that have stopped. Returns one profile
  // for each profiler, in the order of the constructor. A wrong answer of a plug-in (garbage, wrong
  // sizes, more than 256 MiB or 2^22 messages) makes only the status of its own profile an error,
  // DATA_LOSS. A write of a plug-in more than one memory page beyond the size that it announced is
  // a memory fault. Call it once, after Start.
  std::vector<PluginProfile> Finish();

 private:
  struct Running {
    std::shared_ptr<PluginProfiler> profiler;
    std::chrono::steady_clock::time_point started;
    absl::Status status;
  };
  std::vector<Running> running_;
};

// The time of a profile, by the clocks that plug-ins may use.
struct ProfileTime {
  std::chrono::steady_clock::time_point steady;  // the begin
  std::chrono::system_clock::time_point system;  // the same moment by the other clock
  std::chrono::nanoseconds length{0};
};

// Moves the lines of each plane from the plug-in's clock to nanoseconds since the begin of `time`.
// A line that would leave the range of 64 bits goes to 0. Returns the plug-in's clock for each
// plane, the first of these by which all events of the plane that have a time begin within `time`,
// give or take 10 s:
//   "unix", which TensorFlow uses;
//   "monotonic";
//   "relative" to the profiler's start, also for a plane without events that have a time;
//   "unknown", if none of the three: the plane's first event becomes the begin.
std::vector<std::string_view> AlignClocks(const ProfileTime& time, PluginProfile& profile);

}  // namespace tenon
