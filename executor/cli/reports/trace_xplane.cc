// Writes runs as an XSpace, the file that TensorBoard's profiler opens: the steps of the host, and
// the planes of plug-ins as they are.
#include <unistd.h>

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/cli/reports/stream_spans.h"
#include "executor/run/plan.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

constexpr char kHostPlane[] = "/host:CPU";  // the name by which viewers know it
constexpr int64_t kPicosPerNano = 1000;

// A plane of the host: lines of steps.
// The name that XProf's tables know a step by: its op, or which way it copies ("copy host -> X").
std::string_view TypeName(std::string_view what) {
  if (!absl::StartsWith(what, "copy ")) return what;
  if (absl::EndsWith(what, " -> host")) return "MemcpyD2H";
  return absl::StartsWith(what, "copy host -> ") ? "MemcpyH2D" : "MemcpyD2D";
}

class Plane {
 public:
  Plane(std::string name, pb::XSpace* space) : plane_(space->add_planes()) {
    plane_->set_name(std::move(name));
  }

  pb::XLine* AddLine(std::string name) {
    pb::XLine* line = plane_->add_lines();
    line->set_id(plane_->lines_size());
    line->set_name(std::move(name));
    return line;
  }
  int lines() const { return plane_->lines_size(); }
  pb::XLine* line(int i) { return plane_->mutable_lines(i); }

  void AddStep(const RunSpan& run, const RunSpan::Step& step, int64_t start_ns, int64_t stop_ns,
               pb::XLine* line) {
    const StepLabel label = LabelOf(*run.plan, step.index);
    // "node:Op", by which the tables of XProf know what an event is.
    const std::string name =
        label.node.empty() ? label.what : absl::StrCat(label.node, ":", label.what);
    pb::XEvent* event = AddEvent(name, start_ns, stop_ns, line);
    if (!label.node.empty())
      AddStat("tf_op", absl::StrCat(label.node, ":", TypeName(label.what)), event);
    AddStat("op", label.what, event);
    AddStat("device", std::string(label.device), event);
    if (!label.places.empty()) AddStat("place", label.places, event);
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

 private:
  // XSpace keeps each text once: the name of a statistic and its value are references.
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

void AddHost(const std::vector<RunSpan>& runs, pb::XSpace* space) {
  Plane host(kHostPlane, space);
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunSpan& run = runs[i];
    for (const int last = run.last_lane(); host.lines() <= last;)
      host.AddLine(absl::StrCat("runs, thread ", host.lines()));
    pb::XLine* line = host.line(run.lane);
    host.AddEvent(absl::StrCat("run ", i), run.start_ns, run.stop_ns, line);
    host.AddEvent("plan", run.start_ns, run.planned_ns, line);
    for (const RunSpan::Step& step : run.steps)
      host.AddStep(run, step, step.start_ns, step.stop_ns, host.line(step.lane));
  }
}

void AddStreams(const std::vector<RunSpan>& runs, pb::XSpace* space) {
  std::optional<Plane> plane;
  std::string device;
  int devices = 0;
  for (const StreamRow& row : StreamRows(runs)) {
    // Viewers show planes of GPUs and of few others: each device is one, and its streams bear its
    // name.
    if (std::exchange(device, row.device) != row.device)
      plane.emplace(absl::StrCat("/device:GPU:", devices++), space);
    pb::XLine* line = plane->AddLine(
        absl::StrCat("Stream #", plane->lines() + 1, "(", row.device, " ", row.stream, ")"));
    for (const StreamSpan& span : row.spans)
      plane->AddStep(*span.run, *span.step, span.start_ns, span.stop_ns, line);
  }
}

}  // namespace

absl::Status WriteXPlane(const RunWatch& watch, const std::string& path) {
  pb::XSpace space;
  AddHost(watch.runs(), &space);
  AddStreams(watch.runs(), &space);
  for (const RunWatch::Plane& plane : watch.planes())
    *space.add_planes() = watch.profiles()[plane.profile].space->planes(plane.index);
  for (const PluginProfile& profile : watch.profiles()) {
    if (!profile.status.ok()) space.add_errors(std::string(profile.status.message()));
  }
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) == 0) space.add_hostnames(name);
  std::string bytes;
  if (!space.SerializeToString(&bytes)) {
    return WithPath(path,
                    absl::ResourceExhaustedError("an XSpace takes at most 2 GB; trace fewer runs"));
  }
  return WriteFile(path, bytes);
}

}  // namespace tenon::cli
