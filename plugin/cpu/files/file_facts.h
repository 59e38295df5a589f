// What kernels that work on files have in common.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/file_access.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct FileFacts : NodeFacts {
  explicit FileFacts(const Prepare& p) : NodeFacts(p), files(p.session().files()) {}
  FileAccess files;
};

// The one string of input i; INVALID_ARGUMENT if it has not exactly one. `what` names it.
absl::StatusOr<std::string> TextInput(const StepArgs& args, int i, std::string_view what);

// The step's only output, a scalar.
absl::Status SetTextOutput(const StepArgs& args, std::string_view text);

}  // namespace tenon::cpu
