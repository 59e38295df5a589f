// Checks and small computations that the preparation of many kernels shares: axes, scalars, shapes,
// broadcasting.
#include "plugin/cpu/base/kernel_util.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/node_note.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<int> NormalizeAxis(const Prepare& p, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return p.Invalid(absl::StrCat("axis ", axis, " is outside of [", -rank, ", ", rank, ")"));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::Status CheckScalars(const Prepare& p, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    if (p.input_shape(i).rank() != 0) {
      return p.Invalid(absl::StrCat("input ", i, " must be a scalar, not of shape ",
                                    p.input_shape(i).ToString()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInputShape(const Prepare& p, int i, const Shape& want) {
  if (p.input_shape(i) == want) return absl::OkStatus();
  return p.Invalid(absl::StrCat("input ", i, " must have the shape ", want.ToString(), ", not ",
                                p.input_shape(i).ToString()));
}

absl::StatusOr<int64_t> InputInt(const Prepare& p, int i) {
  TENON_RETURN_IF_ERROR(CheckScalars(p, i, i + 1));
  TENON_ASSIGN_OR_RETURN(const Dims values, p.InputInts(i));
  return values[0];
}

absl::StatusOr<Dims> InputIntsOfAnyRank(const Prepare& p, int i) {
  const Tensor* value = p.input_value(i);
  if (value == nullptr)
    return absl::InternalError(absl::StrCat("the value of input ", i, " is not known"));
  if (!HasType(kIndexTypes, value->dtype())) {
    return p.Invalid(
        absl::StrCat("input ", i, " must be int32 or int64, it is ", DataTypeName(value->dtype())));
  }
  // Prepare::InputInts refuses tensors of rank 2 and more. Some ops take the integers of any shape,
  // in row-major order.
  Dims ints(value->num_elements());
  for (size_t k = 0; k < ints.size(); ++k) ints[k] = value->IntAt(static_cast<int64_t>(k));
  return ints;
}

absl::Status SetInts(Prepare& p, int i, absl::Span<const int64_t> values, const Shape& shape) {
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(p.output_type(i), shape));
  for (size_t k = 0; k < values.size(); ++k) {
    // A dimension of a shape can exceed int32, which is Shape's and Size's default output type.
    if (p.output_type(i) == DataType::kInt32 && values[k] != static_cast<int32_t>(values[k]))
      return p.Invalid(absl::StrCat(values[k], " does not fit int32"));
    StoreIndex(t.data(), p.output_type(i), static_cast<int64_t>(k), values[k]);
  }
  p.set_output_shape(i, shape);
  p.set_output_value(i, std::move(t));
  return absl::OkStatus();
}

std::optional<Dims> BroadcastDims(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  // Dimensions align at the right. The result starts as the longer shape.
  if (a.size() < b.size()) std::swap(a, b);
  Dims dims(a.begin(), a.end());
  const size_t missing = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t& dim = dims[missing + d];
    if (dim != b[d] && dim != 1 && b[d] != 1) return std::nullopt;
    // A 1 takes the other's size, which may be 0.
    if (dim == 1) dim = b[d];
  }
  return dims;
}

namespace {

std::string DimsText(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

}  // namespace

absl::StatusOr<Shape> CheckedShape(const Prepare& p, absl::Span<const int64_t> dims) {
  absl::StatusOr<Shape> shape = Shape::Make(dims);
  if (!shape.ok()) {
    absl::Status invalid = p.Invalid(shape.status().message());
    if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) return invalid;
    return NoteAnswer(
        invalid, absl::StatusCode::kInvalidArgument,
        absl::StrCat("Shape ", DimsText(dims), " would have more than 2**63 - 1 elements"));
  }
  // No memory holds more, and sizes derived from fewer do not overflow.
  constexpr int64_t kMostElements = int64_t{1} << 48;
  if (shape->num_elements() > kMostElements) {
    return NoteAnswer(p.Invalid(absl::StrCat("the shape ", shape->ToString(), " is too large")),
                      absl::StatusCode::kResourceExhausted,
                      absl::StrCat("OOM when allocating tensor with shape", shape->ToString()));
  }
  return shape;
}

}  // namespace tenon::cpu
