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
  // A field that the ConfigProto does not set has here the default of a session of the C API. That
  // default is TensorFlow's wherever a program can see a difference.
  SessionOptions options;
  std::map<std::string, int> device_count;  // `most` of ProcessDevices
  bool own_threads = false;                 // the session shares its CPU threads with no other one
  bool log_placement = false;               // log the device of each node
  absl::Duration timeout = absl::InfiniteDuration();  // of a run that has no timeout of its own
  int thread_pools = 1;              // RunOptions.inter_op_thread_pool is from -1 to below this
  std::string executor_type;         // as CheckExecutorType reads it
  bool no_partition_graphs = false;  // no run may ask for them
  std::string metadata;              // SessionMetadata bytes; each RunMetadata gets them
  // One sentence for each field that the ConfigProto sets, that has no effect here and on which a
  // program may count, with the reason. Fields that only tune TensorFlow's own workings are left
  // out.
  std::vector<std::string> without_effect;

  // The configuration of an empty ConfigProto.
  SessionConfig();
};

// `proto`: ConfigProto bytes. INVALID_ARGUMENT if they do not parse. Ignores unknown fields, and a
// number that is no value of its enum. But a Toggle of RewriterConfig counts as ON for every number
// but those of DEFAULT and OFF; so does memory_optimization for every number but those of
// DEFAULT_MEM_OPT and NO_MEM_OPT. Such a number in cpu_layout_conversion, or one above 0 in
// global_jit_level, gives a sentence in `without_effect`.
absl::StatusOr<SessionConfig> ReadSessionConfig(std::string_view proto);

// NOT_FOUND for an executor that TensorFlow does not have. Which of its executors is asked for
// makes no difference here.
absl::Status CheckExecutorType(std::string_view type);

}  // namespace tenon::api
