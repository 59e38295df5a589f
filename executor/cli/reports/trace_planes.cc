#include "executor/cli/reports/trace_planes.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/reports/trace_event.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

// Bytes of a binary value; viewers show it as text.
constexpr size_t kMaxBytesShown = 64;

Json ValueOf(const pb::XStat& stat, const pb::XPlane& plane) {
  switch (stat.value_case()) {
    case pb::XStat::kDoubleValue:
      return stat.double_value();
    case pb::XStat::kUint64Value:
      return stat.uint64_value();
    case pb::XStat::kInt64Value:
      return stat.int64_value();
    case pb::XStat::kStrValue:
      return stat.str_value();
    case pb::XStat::kBytesValue:
      return absl::BytesToHexString(std::string_view(stat.bytes_value()).substr(0, kMaxBytesShown));
    case pb::XStat::kRefValue: {
      const auto found = plane.stat_metadata().find(static_cast<int64_t>(stat.ref_value()));
      return found == plane.stat_metadata().end() ? Json() : Json(found->second.name());
    }
    case pb::XStat::VALUE_NOT_SET:
      break;
  }
  return Json();
}

template <typename Stats>
void AddStats(const Stats& stats, const pb::XPlane& plane, absl::flat_hash_set<std::string>& seen,
              Json& args) {
  for (const pb::XStat& stat : stats) {
    const auto found = plane.stat_metadata().find(stat.metadata_id());
    const std::string name = found == plane.stat_metadata().end()
                                 ? absl::StrCat("stat ", stat.metadata_id())
                                 : found->second.name();
    // The first one wins: a statistic of the event comes before that of its kind.
    if (seen.insert(name).second) args.Set(name, ValueOf(stat, plane));
  }
}

Json EventJson(const pb::XEvent& event, const pb::XLine& line, int process, int thread,
               const pb::XPlane& plane) {
  const auto found = plane.event_metadata().find(event.metadata_id());
  const pb::XEventMetadata* meta = found == plane.event_metadata().end() ? nullptr : &found->second;
  const std::string name = meta == nullptr ? absl::StrCat("event ", event.metadata_id())
                           : meta->display_name().empty() ? meta->name()
                                                          : meta->display_name();
  // In doubles: a plug-in may write any numbers, which integers could not add up without overflow.
  const double start_us =
      static_cast<double>(line.timestamp_ns()) / 1e3 + static_cast<double>(event.offset_ps()) / 1e6;
  const double length_us = std::max(0.0, static_cast<double>(event.duration_ps()) / 1e6);
  Json json = length_us > 0 ? TraceSpan(name, "plugin", process, thread, start_us, length_us)
                            : TraceInstant(name, "plugin", process, thread, start_us);
  Json args = Json::Object();
  absl::flat_hash_set<std::string> seen;
  AddStats(event.stats(), plane, seen, args);
  if (meta != nullptr) AddStats(meta->stats(), plane, seen, args);
  json.Set("args", std::move(args));
  return json;
}

}  // namespace

void AddPlane(const pb::XPlane& plane, int process, const std::string& file, std::string_view clock,
              const std::function<void(const Json&)>& add) {
  const std::string name = plane.name().empty() ? "a plane without a name" : plane.name();
  add(TraceName("process_name", process, 0, absl::StrCat(name, " (", file, ")")));
  if (clock == "unknown") {
    add(TraceName("process_labels", process, 0,
                  "clock unknown: its first event is at the begin of the profile"));
  }
  int thread = 0;
  for (const pb::XLine& line : plane.lines()) {
    ++thread;
    const std::string& shown = line.display_name().empty() ? line.name() : line.display_name();
    add(TraceName("thread_name", process, thread,
                  shown.empty() ? absl::StrCat("line ", line.id()) : shown));
    for (const pb::XEvent& event : line.events()) {
      if (event.data_case() != pb::XEvent::kNumOccurrences)
        add(EventJson(event, line, process, thread, plane));
    }
  }
}

}  // namespace tenon::cli
