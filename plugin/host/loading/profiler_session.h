// One profile: the profilers of all plug-ins, started and stopped together, and what they saw.
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

// What one plug-in's profiler gave.
struct PluginProfile {
  std::string plugin;       // path
  std::string device_type;  // as it registered
  std::chrono::steady_clock::time_point started;
  absl::Status status;  // attributed; its planes are missing then
  std::shared_ptr<pb::XSpace> space;
};

// Used by one thread.
class ProfilerSession {
 public:
  explicit ProfilerSession(std::vector<std::shared_ptr<PluginProfiler>> profilers);

  // start. One that fails is not stopped or asked any more.
  void Start();
  // stop, then collect_data_xspace. Nothing that a plug-in answers (no data, garbage, sizes that
  // are wrong) does more than make its own status an error.
  std::vector<PluginProfile> Finish();

 private:
  struct Running {
    std::shared_ptr<PluginProfiler> profiler;
    std::chrono::steady_clock::time_point started;
    absl::Status status;
  };
  std::vector<Running> running_;
};

// The time that is watched, by the clocks that plug-ins may go by.
struct ProfileTime {
  std::chrono::steady_clock::time_point steady;  // its begin
  std::chrono::system_clock::time_point system;  // the same moment
  std::chrono::nanoseconds length{0};
};

// Moves the lines of each plane from the plug-in's clock to nanoseconds since the begin of `time`,
// and says for each plane which clock that was: "unix" (TensorFlow's own), "monotonic", "relative"
// (to the profiler's start), or "unknown", which makes its first event the begin.
std::vector<std::string_view> AlignClocks(const ProfileTime& time, PluginProfile& profile);

}  // namespace tenon
