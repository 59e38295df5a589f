// Where a random kernel's words come from. The first of these that the op has decides:
//   input `seed`                        a stateless generator
//   inputs `key`, `counter` and `alg`   a generator in this state
//   input `resource`                    a variable with the generator's state
//   attributes seed and seed2, or none  a generator that the node keeps over runs
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/cpu/random/variable_generator.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns the number of the op's input `name`, or -1 if the op has no such input. Only for ops
// without lists of inputs, where numbers of inputs and of tensors are the same.
int InputNamed(const OpDef& op, std::string_view name);

// Returns the generator of a stateless op (StatelessPhilox). `seed` points to two integers of type
// int32, uint32, int64 or uint64.
Philox PhiloxFromSeed(const void* seed, DataType type);

// Immutable once made; several runs share it.
class PhiloxSource {
 public:
  // Looks for the source of the node's words in the order above. INVALID_ARGUMENT unless `seed` has
  // shape [2], `key` [1], `counter` [2] or more, `alg` and `algorithm` are scalars, and `resource`
  // has one element.
  static absl::StatusOr<PhiloxSource> Of(const Prepare& p);

  // Returns whether the generator's state is a variable: input `resource`.
  bool in_variable() const { return resource_ >= 0; }

  // Returns the generator for a run that uses at most `blocks` blocks of four words. A generator of
  // the node or of a variable moves on by `blocks`; one from `seed` or `key` does not: equal inputs
  // give the same generator in each run. Errors as of CheckAlgorithm, GeneratorInput and Reserve
  // (variable_generator.h).
  absl::StatusOr<Philox> Start(const StepArgs& args, uint64_t blocks) const;

 private:
  std::shared_ptr<GeneratorState> generator_;
  int resource_ = -1, seed_ = -1, key_ = -1, counter_ = -1, algorithm_ = -1;  // inputs
  DataType seed_type_ = DataType::kInvalid;
};

}  // namespace tenon::cpu
