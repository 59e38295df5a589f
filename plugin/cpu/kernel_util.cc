#include "plugin/cpu/kernel_util.h"

#include "absl/strings/str_cat.h"

namespace tenon::cpu {

absl::StatusOr<int> NormalizeAxis(const Prepare& p, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return p.Invalid(absl::StrCat("axis ", axis, " is outside of [", -rank, ", ", rank, ")"));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<int64_t> InputInt(const Prepare& p, int i) {
  TENON_ASSIGN_OR_RETURN(const Dims values, p.InputInts(i));
  if (values.size() != 1) {
    return p.Invalid(absl::StrCat("input ", i, " must hold one value, it holds ", values.size()));
  }
  return values[0];
}

absl::StatusOr<Shape> CheckedShape(const Prepare& p, absl::Span<const int64_t> dims) {
  absl::StatusOr<Shape> shape = Shape::Make(dims);
  if (!shape.ok()) return p.Invalid(shape.status().message());
  return shape;
}

}  // namespace tenon::cpu
