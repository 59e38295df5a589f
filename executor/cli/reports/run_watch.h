// Records runs while they go on.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/cli/options/run_flags.h"
#include "executor/cli/passes/fed_shapes.h"
#include "executor/run/run_recorder.h"
#include "plugin/host/loading/profiler_session.h"

namespace tenon::cli {

// Records the steps of runs. With --trace also records the work on streams and the profiles of
// plug-ins; for a page the work on streams. Used by one thread, which calls Begin before the runs
// and End after them, once each. The recorder itself is thread-safe.
class RunWatch {
 public:
  // With --trace the profilers are those of the plug-ins that are loaded now; else there are none.
  // `for_page`: the page of --report wants a recording too, with streams.
  explicit RunWatch(const RecordFlags& flags, bool for_page = false);
  // Whether --trace, --op-table or the page asks for a recording.
  bool wanted() const { return wanted_; }

  // What came before the runs, for traces: the milliseconds of stages, in their order, and the
  // shapes that runs are fed with.
  struct Before {
    std::vector<std::pair<std::string, double>> stages_ms;
    FedShapes fed;
  };
  void SetBefore(Before before) { before_ = std::move(before); }
  const Before& before() const { return before_; }

  // Starts recording. Returns the recorder for Session::Run, which the RunWatch owns; null if none
  // is wanted.
  RunRecorder* Begin();
  // Stops the profilers and collects the profiles. Errors of profilers are in profiles(). Does
  // nothing unless wanted().
  void End();

  // Only after End, and only if wanted().
  const RunRecorder& record() const { return *recorder_; }
  const std::vector<RunSpan>& runs() const { return recorder_->runs(); }

  // A plane of a plug-in's profile. End has moved the plane's times to the recorder's clock.
  struct Plane {
    size_t profile;  // index into profiles()
    int index;       // index into the planes of the profile
    // The clock that the plane was recorded with.
    std::string_view clock;  // "unix", "monotonic", "relative" or "unknown", as AlignClocks says
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
  Before before_;
};

}  // namespace tenon::cli
