// Makes the generated values of a SPEC: zeros, ones, iota, random, normal. The numbers depend on
// the text alone: no library function takes part that may differ between machines in the last bit.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Whether `text` has the form of a generator: a known name, or any name with arguments in
// parentheses (a misspelt one is an error of Generate).
bool IsGenerator(std::string_view text);

// Fills `tensor`, which must be allocated. `random` is uniform in [lo, hi): by default [0, 1) for
// floats, [0, 10) for integers, [0, m) for integers whose largest value m is below 10, and either
// value for bools. `normal` has by default mean 0 and deviation 1, and is for floats and complex
// numbers. `iota` of integers wraps. One seed (default 0) gives the same numbers for every float
// type, up to rounding. INVALID_ARGUMENT quotes a wrong argument, or names a type for which there
// are no such numbers; strings have only `zeros`, which leaves the tensor as it is: its strings
// must be empty already.
absl::Status Generate(std::string_view text, const Tensor& tensor);

}  // namespace tenon::cli
