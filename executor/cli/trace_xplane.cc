// Runs as an XSpace, the file that TensorBoard's profiler opens: the host's steps and the planes of
// plug-ins as they are.
#include <unistd.h>

#include <fstream>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/run_reports.h"
#include "executor/plan.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

constexpr char kHostPlane[] = "/host:CPU";  // the name by which viewers know it
constexpr int64_t kPicosPerNano = 1000;

class HostPlane {
 public:
  explicit HostPlane(pb::XPlane* plane) : plane_(plane) { plane_->set_name(kHostPlane); }

  void Add(const RunSpan& run, size_t number) {
    pb::XLine* line = LineOf(run.lane);
    AddEvent(absl::StrCat("run ", number), run.start_ns, run.stop_ns, line);
    AddEvent("plan", run.start_ns, run.planned_ns, line);
    for (const RunSpan::Step& step : run.steps) {
      const StepLabel label = LabelOf(*run.plan, step.index);
      pb::XEvent* event = AddEvent(label.node.empty() ? label.what : std::string(label.node),
                                   step.start_ns, step.stop_ns, line);
      AddStat("op", label.what, event);
      AddStat("device", std::string(label.device), event);
    }
  }

 private:
  pb::XLine* LineOf(int lane) {
    while (plane_->lines_size() <= lane) {
      pb::XLine* line = plane_->add_lines();
      line->set_id(plane_->lines_size());
      line->set_name(absl::StrCat("runs, thread ", plane_->lines_size() - 1));
    }
    return plane_->mutable_lines(lane);
  }

  pb::XEvent* AddEvent(const std::string& name, int64_t start_ns, int64_t stop_ns,
                       pb::XLine* line) {
    const auto [found, fresh] = events_.try_emplace(name, int64_t(events_.size()) + 1);
    if (fresh) {
      pb::XEventMetadata& meta = (*plane_->mutable_event_metadata())[found->second];
      meta.set_id(found->second);
      meta.set_name(name);
    }
    pb::XEvent* event = line->add_events();
    event->set_metadata_id(found->second);
    event->set_offset_ps(start_ns * kPicosPerNano);
    event->set_duration_ps((stop_ns - start_ns) * kPicosPerNano);
    return event;
  }

  // Both the stat's name and its value are kept once.
  void AddStat(const std::string& name, const std::string& value, pb::XEvent* event) {
    pb::XStat* stat = event->add_stats();
    stat->set_metadata_id(StatId(name));
    stat->set_ref_value(static_cast<uint64_t>(StatId(value)));
  }
  int64_t StatId(const std::string& name) {
    const auto [found, fresh] = stats_.try_emplace(name, int64_t(stats_.size()) + 1);
    if (fresh) {
      pb::XStatMetadata& meta = (*plane_->mutable_stat_metadata())[found->second];
      meta.set_id(found->second);
      meta.set_name(name);
    }
    return found->second;
  }

  pb::XPlane* plane_;
  absl::flat_hash_map<std::string, int64_t> events_, stats_;
};

}  // namespace

absl::Status WriteXPlane(const RunWatch& watch, const std::string& path) {
  pb::XSpace space;
  HostPlane host(space.add_planes());
  for (size_t i = 0; i < watch.runs().size(); ++i) host.Add(watch.runs()[i], i);
  for (const RunWatch::Plane& plane : watch.planes())
    *space.add_planes() = watch.profiles()[plane.profile].space->planes(plane.index);
  for (const PluginProfile& profile : watch.profiles()) {
    if (!profile.status.ok()) space.add_errors(std::string(profile.status.message()));
  }
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) == 0) space.add_hostnames(name);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const bool written = space.SerializeToOstream(&file);
  file.close();
  if (written && !file.fail()) return absl::OkStatus();
  return UsageError(absl::StrCat("--trace: cannot write '", path, "'"));
}

}  // namespace tenon::cli
