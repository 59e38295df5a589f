// Generators whose state is a variable: the algorithm's number (with some), a counter and a key.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {

// What TensorFlow sets aside for each output of a node.
inline constexpr uint64_t kBlocksPerOutput = 256;

// OK for Philox and for whatever suits. UNIMPLEMENTED for ThreeFry, INVALID_ARGUMENT for others.
absl::Status CheckAlgorithm(int64_t algorithm);

// Returns the generator of a state: two numbers for the counter, one number for the key.
Philox PhiloxFromState(const int64_t* state);

// Returns the variable of handle input i. INVALID_ARGUMENT if the input holds another object.
absl::StatusOr<Variable*> GeneratorInput(const StepArgs& args, int i);

// The generator in a vector's elements from `first` on; those then stand `blocks` blocks of words
// further on. `read`, where given, gets the state as it was.
absl::StatusOr<Philox> Reserve(Variable& variable, int first, uint64_t blocks);
absl::StatusOr<Philox> Reserve(Variable& variable, int first, uint64_t blocks,
                               absl::FunctionRef<absl::Status(const Tensor& state)> read);

}  // namespace tenon::cpu
