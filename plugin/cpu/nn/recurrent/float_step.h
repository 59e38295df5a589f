// Kernels that compute in float and also serve half: inputs and outputs are converted on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

class FloatStep {
 public:
  // After the preparation has set its output shapes.
  explicit FloatStep(const Prepare& p);

  // Scratch for the conversions: none for float.
  size_t scratch_bytes() const { return converts_ ? bytes_ : 0; }

  // Calls body with all floating-point inputs and outputs as floats, other inputs as they are, and
  // the scratch memory behind ours.
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
