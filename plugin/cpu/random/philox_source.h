// Where a random kernel's words come from, by the inputs that its op has: a generator that the node
// keeps over runs (attributes seed and seed2, or none), an input `seed`, inputs `key`, `counter`
// and `alg`, or a variable with the generator's state, input `resource`.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/cpu/random/variable_generator.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Returns the number of the op's input `name`, or -1 if the op has no such input. Only for ops
// without lists of inputs, where numbers of inputs and of tensors are the same.
int InputNamed(const OpDef& op, std::string_view name);

// Returns the generator of a stateless op. `seed` points to two integers of type int32, uint32,
// int64 or uint64.
Philox PhiloxFromSeed(const void* seed, DataType type);

// Immutable once made; several runs share it.
class PhiloxSource {
 public:
  // Reads the op's inputs, in the order: `seed`, `key`, `resource`, attributes. INVALID_ARGUMENT
  // for inputs of another shape.
  static absl::StatusOr<PhiloxSource> Of(const Prepare& p);

  // Returns whether the generator's state is a variable.
  bool in_variable() const { return resource_ >= 0; }

  // Returns the generator for a run that uses at most `blocks` blocks of four words. A generator of
  // the node or of a variable is moved on by `blocks`; inputs give the same generator in each run.
  // Errors as of Reserve and CheckAlgorithm (variable_generator.h).
  absl::StatusOr<Philox> Start(const StepArgs& args, uint64_t blocks) const;

 private:
  std::shared_ptr<GeneratorState> generator_;
  int resource_ = -1, seed_ = -1, key_ = -1, counter_ = -1, algorithm_ = -1;  // inputs
  DataType seed_type_ = DataType::kInvalid;
};

}  // namespace tenon::cpu
