// TENON_WriteTrace: RunMetadata as trace events, the JSON that Perfetto reads.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/values/json.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "proto/config.pb.h"
#include "tenon/tenon_c.h"

namespace tenon::api {
namespace {

using cli::Json;

// "y = MatMul(x, w) at train.cc:42" in its parts. What the label does not say stays empty.
struct TimelineLabel {
  std::string_view op, place;

  explicit TimelineLabel(std::string_view label) {
    const size_t equals = label.find(" = "), open = label.find('(', equals);
    if (equals == label.npos || open == label.npos) return;
    op = label.substr(equals + 3, open - equals - 3);
    constexpr std::string_view kAt = ") at ";
    if (const size_t at = label.rfind(kAt); at != label.npos) place = label.substr(at + kAt.size());
  }
};

// The name of a row of the viewer: a device is a process, a thread of the program a thread.
Json RowName(std::string_view what, int process, int64_t thread, std::string_view name) {
  Json args = Json::Object();
  args.Set("name", name);
  Json event = Json::Object();
  event.Set("name", what).Set("ph", "M").Set("pid", process).Set("tid", thread);
  event.Set("args", std::move(args));
  return event;
}

Json Slice(const pb::NodeExecStats& node, int process, int64_t begin_ns) {
  const TimelineLabel label(node.timeline_label());
  Json args = Json::Object();
  if (!label.op.empty()) args.Set("op", label.op);
  if (!label.place.empty()) args.Set("place", label.place);
  args.Set("label", node.timeline_label());
  constexpr double kNanosPerMicro = 1000;
  Json event = Json::Object();
  event.Set("name", node.node_name())
      .Set("cat", label.op.empty() ? std::string_view(node.timeline_label()) : label.op)
      .Set("ph", "X")
      .Set("pid", process)
      .Set("tid", static_cast<int64_t>(node.thread_id()))
      .Set("ts", static_cast<double>(node.all_start_nanos() - begin_ns) / kNanosPerMicro)
      .Set("dur", static_cast<double>(node.all_end_rel_nanos()) / kNanosPerMicro)
      .Set("args", std::move(args));
  return event;
}

// Times begin with the first node: a time since 1970 in microseconds would lose its digits.
int64_t FirstStart(const pb::StepStats& stats) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const pb::DeviceStepStats& device : stats.dev_stats()) {
    for (const pb::NodeExecStats& node : device.node_stats())
      first = std::min(first, node.all_start_nanos());
  }
  return first;
}

absl::Status WriteTrace(std::string_view bytes, const std::string& path) {
  pb::RunMetadata metadata;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !metadata.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::InvalidArgumentError("run_metadata: no RunMetadata");
  const pb::StepStats& stats = metadata.step_stats();
  TENON_ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(path));
  std::string_view separator = "\n";
  const auto add = [&](const Json& event) {
    // An error stays in the writer, and Finish returns it.
    file.Write(std::exchange(separator, ",\n")).IgnoreError();
    file.Write(event.Dump()).IgnoreError();
  };
  file.Write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[").IgnoreError();
  std::map<std::string, int> processes;
  const int64_t begin = FirstStart(stats);
  for (const pb::DeviceStepStats& device : stats.dev_stats()) {
    const auto [found, is_new] =
        processes.try_emplace(device.device(), static_cast<int>(processes.size()) + 1);
    if (is_new) add(RowName("process_name", found->second, 0, device.device()));
    for (const pb::NodeExecStats& node : device.node_stats())
      add(Slice(node, found->second, begin));
  }
  file.Write("\n]}\n").IgnoreError();
  return file.Finish();
}

}  // namespace
}  // namespace tenon::api

extern "C" void TENON_WriteTrace(const void* run_metadata, size_t length, const char* path,
                                 TF_Status* status) try {
  if (!tenon::api::AllGiven({{"path", path}}, status) ||
      !tenon::api::IsBytes("run_metadata", run_metadata, length, status))
    return;
  tenon::StatusToC(tenon::api::WriteTrace({static_cast<const char*>(run_metadata), length}, path),
                   status);
} catch (...) {
  tenon::WithoutMemory(status);
}
