// Reads a ConfigProto: what a program asks of a session.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/compile/session_options.h"

namespace tenon::api {

struct SessionConfig {
  // Of what a ConfigProto says nothing of, these are the defaults of a session of the C API:
  // TensorFlow's where a program can see a difference.
  SessionOptions options;
  std::map<std::string, int> device_count;  // by device type, the most devices
  bool own_threads = false;                 // the session shares its CPU threads with no other one
  bool log_placement = false;
  absl::Duration timeout = absl::InfiniteDuration();  // of a run that has none of its own
  int thread_pools = 1;  // RunOptions.inter_op_thread_pool is below this number
  std::string metadata;  // SessionMetadata bytes, which come back with the metadata of runs
  // What the ConfigProto sets and this host does not do, with the reason: a sentence for each.
  std::vector<std::string> without_effect;

  SessionConfig();
};

// INVALID_ARGUMENT if the bytes are no ConfigProto. Unknown fields count for nothing, and so does a
// number that is no value of its enum.
absl::StatusOr<SessionConfig> ReadSessionConfig(std::string_view proto);

}  // namespace tenon::api
