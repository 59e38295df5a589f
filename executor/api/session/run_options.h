// Reads a RunOptions: what a program asks of one run.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/api/base/session_config.h"
#include "tensorflow/c/tf_buffer.h"

namespace tenon::api {

struct RunWishes {
  bool trace = false;          // when the nodes were computed
  bool trace_streams = false;  // when streams of devices have done what nodes queue there
  bool partition_graphs = false;
  absl::Duration timeout;  // 0: that of the session
};

// `options` may be null. INVALID_ARGUMENT if the bytes are no RunOptions, or if they name a thread
// pool that the session has not.
absl::StatusOr<RunWishes> ReadRunOptions(const TF_Buffer* options, const SessionConfig& config);

}  // namespace tenon::api
