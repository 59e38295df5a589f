// Slices of a tensor along attribute `axis`, each with a range of its own.
#include "plugin/cpu/quantize/slices.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<Slices> ReadSlices(const Prepare& p, const Shape& shape) {
  int64_t axis = -1;
  if (p.op().FindAttr("axis") != nullptr) {
    TENON_ASSIGN_OR_RETURN(axis, p.AttrInt("axis"));
  }
  if (axis < -1 || axis >= shape.rank()) {
    return p.Invalid(
        absl::StrCat("axis must be -1 or a dimension of ", shape.ToString(), ", not ", axis));
  }
  if (axis == -1) return Slices{1, 1, shape.num_elements()};
  const AxisSplit split = SplitAt(shape, static_cast<int>(axis));
  return Slices{split.outer, split.size, split.inner};
}

absl::Status CheckRanges(const Prepare& p, const Slices& slices, int i) {
  for (int k = i; k < i + 2; ++k) {
    if (p.input_shape(k).rank() <= 1 && p.input_shape(k).num_elements() == slices.count) continue;
    return p.Invalid(absl::StrCat("input ", k, " must hold ", slices.count,
                                  " values, one for each slice, and not have the shape ",
                                  p.input_shape(k).ToString()));
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
