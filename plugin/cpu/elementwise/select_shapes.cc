#include "plugin/cpu/elementwise/select_shapes.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<std::array<Shape, 3>> SelectShapes(const Prepare& p) {
  const Shape& condition = p.input_shape(0);
  const Shape& then = p.input_shape(1);
  if (!(then == p.input_shape(2))) return p.Invalid("'then' and 'else' must have equal shapes");
  Shape spread = condition;
  if (condition.rank() == 1 && then.rank() >= 1 && condition.dim(0) == then.dim(0)) {
    // As a column, which broadcasting repeats along the rows.
    for (int d = 1; d < then.rank(); ++d) spread.push_back(1);
  } else if (condition.rank() != 0 && !(condition == then)) {
    return p.Invalid(
        "the condition must be a scalar, a vector of 'then's first dimension, or of its shape");
  }
  return std::array<Shape, 3>{spread, then, then};
}

}  // namespace tenon::cpu
