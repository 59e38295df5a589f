// Elementwise ops broadcast shapes. Of small integer operands the values are computed too, since
// models compute sizes by such ops and pass them to a Reshape.

#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// Broadcasting, and the value where both are integer scalars or vectors that are known at least in
// part. `f` gives nullopt for what is undefined.
template <typename F>
absl::Status BinaryWithValue(InferenceContext& c, F f) {
  TENON_RETURN_IF_ERROR(BroadcastBinaryShape(c));
  const std::optional<Dims> x = c.input_as_ints(0);
  const std::optional<Dims> y = c.input_as_ints(1);
  if (!x || !y || x->empty() || y->empty()) return absl::OkStatus();
  if (x->size() != y->size() && x->size() != 1 && y->size() != 1) return absl::OkStatus();
  Dims out(std::max(x->size(), y->size()), kUnknownDim);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t a = (*x)[x->size() == 1 ? 0 : i];
    const int64_t b = (*y)[y->size() == 1 ? 0 : i];
    const bool known = (a != kUnknownDim || c.input_value(0) != nullptr) &&
                       (b != kUnknownDim || c.input_value(1) != nullptr);
    if (known) out[i] = f(a, b).value_or(kUnknownDim);
  }
  SetValue(c, 0, std::move(out));
  return absl::OkStatus();
}

// Undefined for 0, and for -1 too: the least integer divided by -1 overflows.
std::optional<int64_t> FloorDivide(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::optional<int64_t> Truncate(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return std::nullopt;
  return a / b;
}

}  // namespace

absl::Status AddShape(InferenceContext& c) {
  return BinaryWithValue(c, [](int64_t a, int64_t b) -> std::optional<int64_t> {
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
  });
}
absl::Status SubShape(InferenceContext& c) {
  return BinaryWithValue(c, [](int64_t a, int64_t b) -> std::optional<int64_t> {
    int64_t r;
    return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
  });
}
absl::Status MulShape(InferenceContext& c) {
  return BinaryWithValue(c, [](int64_t a, int64_t b) -> std::optional<int64_t> {
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
  });
}
absl::Status DivShape(InferenceContext& c) { return BinaryWithValue(c, Truncate); }
absl::Status FloorDivShape(InferenceContext& c) { return BinaryWithValue(c, FloorDivide); }
absl::Status FloorModShape(InferenceContext& c) {
  return BinaryWithValue(c, [](int64_t a, int64_t b) -> std::optional<int64_t> {
    if (!FloorDivide(a, b)) return std::nullopt;
    // Not a - quotient * b: the product may overflow where the remainder does not.
    const int64_t remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  });
}
absl::Status MaximumShape(InferenceContext& c) {
  return BinaryWithValue(c, [](int64_t a, int64_t b) { return std::optional(std::max(a, b)); });
}
absl::Status MinimumShape(InferenceContext& c) {
  return BinaryWithValue(c, [](int64_t a, int64_t b) { return std::optional(std::min(a, b)); });
}

absl::Status CastShape(InferenceContext& c) {
  c.set_output(0, c.input(0));
  SetValue(c, 0, c.input_as_ints(0));
  return absl::OkStatus();
}

// With incompatible_shape_error = false shapes that do not broadcast are legal and give a scalar,
// so that an unknown dimension says nothing.
absl::Status EqualShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const bool strict, c.AttrBool("incompatible_shape_error"));
  if (strict) return BroadcastBinaryShape(c);
  const PartialShape& x = c.input(0);
  const PartialShape& y = c.input(1);
  if (!x.known_rank() || !y.known_rank()) return absl::OkStatus();
  bool unknown = false;
  for (int i = 1; i <= std::min(x.rank(), y.rank()); ++i) {
    const int64_t a = x.dim(-i), b = y.dim(-i);
    if (a == 1 || b == 1 || (a >= 0 && a == b)) continue;
    if (a >= 0 && b >= 0) return ScalarShape(c);
    unknown = true;
  }
  return unknown ? absl::OkStatus() : BroadcastBinaryShape(c);
}

absl::Status SelectV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape branches, c.Broadcast(c.input(1), c.input(2)));
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.Broadcast(c.input(0), branches));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The condition is a scalar, a vector along the first dimension, or of the branches' shape.
absl::Status SelectShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape data, MergeShapes(c.input(1), c.input(2)));
  const PartialShape& cond = c.input(0);
  if (cond.known_rank() && data.known_rank() && cond.rank() != 0) {
    if (cond.rank() == 1 && data.rank() > 1) {
      TENON_ASSIGN_OR_RETURN(const PartialShape rows, MergeShapes(cond, Vector(data.dim(0))));
      data.set_dim(0, rows.dim(0));
    } else {
      TENON_ASSIGN_OR_RETURN(data,
                             cond.rank() == 1 ? MergeShapes(cond, data) : MergeShapes(data, cond));
    }
  } else if (cond.known_rank() && cond.rank() > 1) {
    data = cond;
  }
  c.set_output(0, std::move(data));
  return absl::OkStatus();
}

// A change of element size adds or takes the last dimension.
absl::Status BitcastShape(InferenceContext& c) {
  const int64_t from = static_cast<int64_t>(DataTypeSize(c.input_type(0)));
  const int64_t to = static_cast<int64_t>(DataTypeSize(c.output_type(0)));
  PartialShape shape = c.input(0);
  if (from == 0 || to == 0) return absl::OkStatus();
  if (from < to && shape.known_rank()) {
    TENON_ASSIGN_OR_RETURN(shape, c.WithRankAtLeast(shape, 1));
    if (const int64_t last = shape.dim(-1); last >= 0 && last != to / from) {
      return Invalid("Cannot bitcast from ", static_cast<int>(c.input_type(0)), " to ",
                     static_cast<int>(c.output_type(0)), " due to shape. ", last,
                     " does not match ", to / from);
    }
    shape = Subshape(shape, 0, -1);
  } else if (from > to && shape.known_rank()) {
    shape.push_back(from / to);
  }
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

}  // namespace tenon::ops
