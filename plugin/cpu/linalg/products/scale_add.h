// x * factor + addend, in place, on the elements x that a matrix product has just written.
// Multiplication and addition round separately (no FMA), so that the result equals that of nodes
// Mul and Add.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Immutable once made; several threads share it.
class ScaleAdd {
 public:
  // Prepares the operation on output 0, of shape `output` and input 0's type. `factor` and `addend`
  // are the numbers of inputs of the same type. INVALID_ARGUMENT unless the factor has one element
  // and the addend broadcasts to the output's shape. UNIMPLEMENTED if the type has no loops.
  static absl::StatusOr<ScaleAdd> Make(const Prepare& p, int factor, int addend,
                                       const Shape& output);

  // Computes elements [begin, end) of output 0, in the calling thread. Thread-safe for disjoint
  // ranges.
  void Run(const StepArgs& args, int64_t begin, int64_t end) const;

 private:
  ElementStep scale_, add_;
  int factor_ = 0, addend_ = 0;
};

}  // namespace tenon::cpu
