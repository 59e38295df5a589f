// Generated values of a SPEC: zeros, ones, iota, random, normal. The numbers depend on the text
// alone: no library function whose last bit may differ between machines takes part.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Whether `text` is written as a generator: a name, alone or with arguments in parentheses.
bool IsGenerator(std::string_view text);

// Fills an allocated tensor. random: uniform in [lo, hi), default [0, 1) for floats, [0, 10) for
// integers; normal: mean 0, std 1, floats only. The same seed (default 0) gives the same numbers
// for every dtype up to rounding. INVALID_ARGUMENT quotes a bad argument.
absl::Status Generate(std::string_view text, const Tensor& tensor);

}  // namespace tenon::cli
