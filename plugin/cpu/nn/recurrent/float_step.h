// Conversions for kernels that compute in float and also serve half.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "graph/tensor/dtype.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The conversions of one step's inputs and outputs. Immutable once made; several runs share it.
class FloatStep {
 public:
  // Requires that the preparation has set the output shapes.
  explicit FloatStep(const Prepare& p);

  // The bytes of scratch memory for the conversions, in addition to those of `body`: a multiple of
  // kTensorAlignment, 0 if no input and no output is half or bfloat16.
  size_t scratch_bytes() const { return converts_ ? bytes_ : 0; }

  // Converts inputs of half and bfloat16 to float, calls `body`, and converts outputs of these
  // types back: each value is rounded once. Converts in the calling thread. `floats` points to
  // floats for these inputs and outputs, and to the memory of `args` for all others. The scratch
  // memory of `floats` is that of `args` from byte scratch_bytes() on. Returns the status of
  // `body`; after an error no output is converted.
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
