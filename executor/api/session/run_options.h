// Reads a RunOptions: what a program asks of one run.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/api/base/session_config.h"
#include "tensorflow/c/tf_buffer.h"

namespace tenon::api {

struct RunWishes {
  bool trace = false;             // record when the nodes are computed
  bool trace_streams = false;     // record when the streams of devices end the work of the nodes
  bool partition_graphs = false;  // return PartitionGraphs
  absl::Duration timeout;         // 0 or less: the timeout of the session
};

// `options`: RunOptions bytes; null: none. INVALID_ARGUMENT if `options` is deleted, or if the
// bytes do not parse, name a thread pool that the session does not have, or ask for graphs that the
// session does not give (SessionConfig::no_partition_graphs).
// Warns on stderr of inter_op_thread_pool above 0 and of report_tensor_allocations_upon_oom, which
// have no effect. Other fields are ignored without a word.
absl::StatusOr<RunWishes> ReadRunOptions(const TF_Buffer* options, const SessionConfig& config);

}  // namespace tenon::api
