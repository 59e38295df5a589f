#include "executor/api/session/run_options.h"

#include <google/protobuf/stubs/logging.h>

#include <climits>

#include "absl/strings/str_cat.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "proto/config.pb.h"

namespace tenon::api {
namespace {

// A pool that the session has is accepted: which thread computes changes no result.
absl::Status CheckThreadPool(int pool, const SessionConfig& config) {
  if (pool >= -1 && pool < config.thread_pools) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Invalid inter_op_thread_pool: ", pool));
}

void ReportWithoutEffect(const pb::RunOptions& options) {
  if (options.inter_op_thread_pool() > 0) {
    WarnOf(absl::UnimplementedError(
        "RunOptions: inter_op_thread_pool has no effect: all runs of a session share its threads"));
  }
  if (options.report_tensor_allocations_upon_oom()) {
    WarnOf(absl::UnimplementedError(
        "RunOptions: report_tensor_allocations_upon_oom has no effect: the memory of a run is one "
        "arena, and an error names the node with the largest part of it"));
  }
}

}  // namespace

absl::StatusOr<RunWishes> ReadRunOptions(const TF_Buffer* options, const SessionConfig& config) {
  if (options == nullptr) return RunWishes();
  if (WasDeleted(options)) return absl::InvalidArgumentError("argument 'run_options' was deleted");
  const google::protobuf::LogSilencer silence;
  const std::string_view bytes = BufferBytes(*options);
  pb::RunOptions proto;
  if (bytes.size() > INT_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::InvalidArgumentError("Unparseable RunOptions proto");
  absl::Status pool = CheckThreadPool(proto.inter_op_thread_pool(), config);
  if (!pool.ok()) return pool;
  if (proto.output_partition_graphs() && config.no_partition_graphs) {
    return absl::InvalidArgumentError(
        "RunOptions.output_partition_graphs() is not supported when "
        "disable_output_partition_graphs "
        "is true.");
  }
  ReportWithoutEffect(proto);
  return RunWishes{.trace = proto.trace_level() != pb::RunOptions::NO_TRACE,
                   .trace_streams = proto.trace_level() >= pb::RunOptions::HARDWARE_TRACE,
                   .partition_graphs = proto.output_partition_graphs(),
                   .timeout = absl::Milliseconds(proto.timeout_in_ms())};
}

}  // namespace tenon::api
