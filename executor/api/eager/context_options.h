// The options of a context. Private to executor/api/eager/.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "executor/compile/session_options.h"
#include "graph/c_api/handles.h"
#include "tensorflow/c/eager/c_api.h"

namespace tenon::eager {

struct ContextOptions {
  SessionOptions session;
  std::map<std::string, int> device_count;  // `most` of ProcessDevices, but for the CPU
  bool async = false;
  bool soft_placement = false;
  bool log_placement = false;
  TFE_ContextDevicePlacementPolicy policy = TFE_DEVICE_PLACEMENT_SILENT;
};

// Sets session.threads, soft_placement, log_placement and device_count from the fields
// intra_op_parallelism_threads, allow_soft_placement, log_device_placement and device_count of
// ConfigProto bytes. A number of threads below 0 becomes 0, which stands for DefaultThreads(). Of
// another number of CPU devices than one a warning says that it has no effect. A field that is
// absent leaves its option as it was. Other fields are ignored. INVALID_ARGUMENT if the bytes do
// not parse; `options` is then unchanged.
absl::Status SetConfig(std::string_view proto, ContextOptions& options);

}  // namespace tenon::eager

struct TFE_ContextOptions {
  using Pool = tenon::Handles<TFE_ContextOptions>;
  tenon::eager::ContextOptions options;
};
