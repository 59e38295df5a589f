// Kernels of the CPU that refuse what they are given.
#pragma once

#include <string>
#include <vector>

#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon::testing {

// That the op answers with this code, and these words in its message.
void ExpectError(absl::StatusCode code, const char* message, const std::string& op,
                 const Attrs& attrs, const std::vector<Tensor>& inputs);

}  // namespace tenon::testing
