// Makes the generated values of a SPEC: zeros, ones, iota, random, normal. Element i depends on the
// text, the tensor's type and i alone: no library function takes part that may differ between
// machines in the last bit.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Whether `text` has the form of a generator: a known name, or any name that begins with a letter
// and has a '(' after it (Generate refuses a misspelt one).
bool IsGenerator(std::string_view text);

// Fills `tensor`, which must be allocated and of numbers, bools or strings. `random` is uniform in
// [lo, hi): by default [0, 1) for floats, [0, 10) for integers, [0, m) for integers whose largest
// value m is below 10, and either value for bools. Rounding to a float type may give `hi` itself.
// `normal` has by default mean 0 and deviation 1, and is for floats and complex numbers. Both draw
// the two parts of a complex number one by one. `iota` of integers wraps, and cuts the fractions of
// its arguments off; bools have no `iota`. One seed (default 0) gives the same numbers for every
// float type, up to rounding. Strings have only `zeros`, which leaves the tensor as it is: its
// strings must be empty already.
//
// INVALID_ARGUMENT quotes an unknown generator or a wrong argument, or names a type for which there
// are no such numbers. The tensor is then as it was.
absl::Status Generate(std::string_view text, const Tensor& tensor);

}  // namespace tenon::cli
