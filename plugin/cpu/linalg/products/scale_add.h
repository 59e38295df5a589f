// x * factor + addend, in place, on what a matrix product has just written: each operation rounds
// as a Mul and an Add of their own do.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

class ScaleAdd {
 public:
  // On output 0, whose shape is `output`, of input 0's type. Inputs `factor`, one element, and
  // `addend`, which must broadcast to the output: INVALID_ARGUMENT else.
  static absl::StatusOr<ScaleAdd> Make(const Prepare& p, int factor, int addend,
                                       const Shape& output);

  // Elements [begin, end) of output 0, in the calling thread.
  void Run(const StepArgs& args, int64_t begin, int64_t end) const;

 private:
  ElementStep scale_, add_;
  int factor_ = 0, addend_ = 0;
};

}  // namespace tenon::cpu
