// Conversions for kernels that compute in float and also serve half.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// The conversions of one step's inputs and outputs. Immutable once made.
class FloatStep {
 public:
  // Requires that the preparation has set the output shapes.
  explicit FloatStep(const Prepare& p);

  // The scratch memory of the conversions. 0 for float.
  size_t scratch_bytes() const { return converts_ ? bytes_ : 0; }

  // Converts the floating-point inputs to float, calls `body`, converts the outputs back. `floats`
  // has floats for all floating-point inputs and outputs; other inputs are unchanged. Its scratch
  // memory begins scratch_bytes() behind that of `args`. Returns the status of `body`.
  absl::Status Run(const StepArgs& args,
                   absl::FunctionRef<absl::Status(const StepArgs& floats)> body) const;

 private:
  struct Operand {
    DataType type;
    int64_t elements;
    int64_t offset;  // in scratch; -1: used as it is
  };
  Operand MakeOperand(DataType type, int64_t elements);

  bool converts_ = false;
  size_t bytes_ = 0;
  std::vector<Operand> inputs_, outputs_;
};

}  // namespace tenon::cpu
