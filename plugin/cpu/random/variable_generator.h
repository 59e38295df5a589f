// Generators whose state is the value of a variable, an int64 vector: two numbers for the counter,
// the lower first, and one for the key. In some ops the algorithm's number stands before them.
// Elements behind them are not used.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/run_fn.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {

// The blocks of four words that TensorFlow sets aside for each element of an output (of
// Multinomial, for each word that it draws). RngSkip and RngReadAndSkip count in such elements.
inline constexpr uint64_t kBlocksPerOutput = 256;

// OK for 1 (Philox) and 3 (the library chooses: Philox). UNIMPLEMENTED for 2 (ThreeFry).
// INVALID_ARGUMENT for any other number.
absl::Status CheckAlgorithm(int64_t algorithm);

// Returns the generator of a state without the algorithm's number: state[0] and state[1] are the
// counter, state[2] is the key.
Philox PhiloxFromState(const int64_t* state);

// Returns the variable in input i, a handle of one element. The variable lives until the run
// function returns. INVALID_ARGUMENT if the input holds another object or none.
absl::StatusOr<Variable*> GeneratorInput(const StepArgs& args, int i);

// Returns the generator of the state that begins at element `first` of the variable's value, and
// moves the state `blocks` blocks on. Both happen as one step: concurrent calls get different
// blocks. If first > 0, element 0 is the algorithm's number. NOT_FOUND if the variable has no
// value. INVALID_ARGUMENT for a value of another form. Errors of element 0 as of CheckAlgorithm.
// RESOURCE_EXHAUSTED if another tensor shares the value and memory is short. Errors of moving the
// value from a device to the host. After an error the state is as before.
absl::StatusOr<Philox> Reserve(Variable& variable, int first, uint64_t blocks);
// The same. Calls read(state) with the whole value before it changes, under the variable's lock:
// `read` must not call the variable. An error of `read` is returned.
absl::StatusOr<Philox> Reserve(Variable& variable, int first, uint64_t blocks,
                               absl::FunctionRef<absl::Status(const Tensor& state)> read);

}  // namespace tenon::cpu
