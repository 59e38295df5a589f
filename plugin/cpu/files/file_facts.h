// Shared code of the kernels that read and write files.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/file_access.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// The facts of a node that touches files. `files` says which files the session permits.
struct FileFacts : NodeFacts {
  explicit FileFacts(const Prepare& p);
  FileAccess files;
};

// Returns the string of input i, which must be of type string. INVALID_ARGUMENT, with the input's
// name `what`, unless the input has exactly one element.
absl::StatusOr<std::string> TextInput(const StepArgs& args, int i, std::string_view what);

// Makes output 0 the scalar `text`. RESOURCE_EXHAUSTED if memory for the tensor is short; throws
// bad_alloc if memory for a long text is.
absl::Status SetTextOutput(const StepArgs& args, std::string_view text);

}  // namespace tenon::cpu
