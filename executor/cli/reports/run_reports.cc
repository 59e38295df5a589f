#include "executor/cli/reports/run_reports.h"

#include "absl/strings/match.h"
#include "executor/cli/faults/exit_code.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

int64_t EventsOf(const pb::XSpace& space) {
  int64_t events = 0;
  for (const pb::XPlane& plane : space.planes()) {
    for (const pb::XLine& line : plane.lines()) events += line.events_size();
  }
  return events;
}

// Adds what each profiler recorded. A profiler that failed is a warning: the runs are right without
// it.
absl::Status AddProfiles(const RunWatch& watch, const CommonFlags& flags, Invocation& invocation) {
  if (watch.profiles().empty()) return absl::OkStatus();
  Json profiles = Json::Array();
  absl::Status first;
  for (size_t i = 0; i < watch.profiles().size(); ++i) {
    const PluginProfile& profile = watch.profiles()[i];
    Json planes = Json::Array();
    for (const RunWatch::Plane& plane : watch.planes()) {
      if (plane.profile != i) continue;
      Json json = Json::Object();
      json.Set("name", profile.space->planes(plane.index).name()).Set("clock", plane.clock);
      planes.Push(std::move(json));
    }
    Json json = Json::Object();
    json.Set("plugin", profile.plugin)
        .Set("device_type", profile.device_type)
        .Set("status", Json::OfStatus(profile.status))
        .Set("planes", std::move(planes))
        .Set("events", EventsOf(*profile.space));
    profiles.Push(std::move(json));
    first.Update(profile.status);
    if (!profile.status.ok() && !flags.fail_on_plugin_errors) {
      Warn(flags,
           absl::StrCat("no profile of plug-in ", profile.plugin, ": ", profile.status.message()));
    }
  }
  invocation.doc.Set("profiles", std::move(profiles));
  return flags.fail_on_plugin_errors ? WithExit(Exit::kPluginFault, first) : absl::OkStatus();
}

}  // namespace

RunWatch::Before BeforeRuns(const Executable& executable, double load_ms,
                            const RunRequest& request) {
  const Times times = TimesReport(executable);
  RunWatch::Before before;
  before.stages_ms = {{"load", load_ms}, {"optimize", times.optimize}, {"place", times.place}};
  for (size_t i = 0; i < request.feeds.size(); ++i)
    before.fed.emplace_back(request.feed_names[i], PartialShape(request.feeds[i].shape()));
  return before;
}

absl::Status AddRunReports(const Executable& executable, const RunWatch& watch,
                           const TimedFlags& flags, Invocation& invocation) {
  for (const std::string& path : flags.traces) {
    TENON_RETURN_IF_ERROR(WithPath("--trace", absl::EndsWith(path, ".xplane.pb")
                                                  ? WriteXPlane(watch, path)
                                                  : WriteTrace(watch, path)));
  }
  if (flags.memory) AddMemory(executable, invocation);
  if (!flags.op_table.empty()) AddOpTable(watch.record(), flags.op_table, invocation);
  return AddProfiles(watch, flags, invocation);
}

}  // namespace tenon::cli
