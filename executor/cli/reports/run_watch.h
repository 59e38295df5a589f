// What is written down while the runs that count go on.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "executor/cli/options/run_flags.h"
#include "executor/run/run_recorder.h"
#include "plugin/host/loading/profiler_session.h"

namespace tenon::cli {

// Our own steps, and with --trace what the profilers of plug-ins see. Used by one thread.
class RunWatch {
 public:
  explicit RunWatch(const RecordFlags& flags);
  bool wanted() const { return wanted_; }

  // What the runs are to be recorded with; null where nobody wants it.
  RunRecorder* Begin();
  void End();

  // The rest is for after the end, where it is wanted.
  const RunRecorder& record() const { return *recorder_; }
  const std::vector<RunSpan>& runs() const { return recorder_->runs(); }

  // The planes of plug-ins, on the recorder's clock.
  struct Plane {
    size_t profile;  // index into profiles()
    int index;       // into its planes
    std::string_view clock;
  };
  const std::vector<PluginProfile>& profiles() const { return profiles_; }
  const std::vector<Plane>& planes() const { return planes_; }

 private:
  const bool wanted_, watches_streams_;
  ProfilerSession profilers_;
  std::optional<RunRecorder> recorder_;
  std::chrono::system_clock::time_point system_start_;
  std::vector<PluginProfile> profiles_;
  std::vector<Plane> planes_;
};

}  // namespace tenon::cli
