// Arithmetic on dimensions and shapes that may be unknown, and shape functions that many ops share.

#include "graph/shapes/common_shapes.h"

#include <climits>

#include "graph/base/annotate.h"

namespace tenon::ops {
namespace {

absl::Status Overflow(std::string_view operation, int64_t a, int64_t b) {
  return Invalid("Dimension size overflow from ", operation, " ", a, " and ", b);
}

}  // namespace

absl::StatusOr<int64_t> AddDims(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return kUnknownDim;
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return Overflow("adding", a, b);
  return sum;
}

absl::StatusOr<int64_t> SubtractDims(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return kUnknownDim;
  if (a < b) {
    return absl::InvalidArgumentError(
        absl::StrCat("Negative dimension size caused by subtracting ", b, " from ", a));
  }
  return a - b;
}

absl::StatusOr<int64_t> MultiplyDims(int64_t a, int64_t b) {
  // 0 times an unknown size is 0 all the same.
  if (a == 0 || b == 0) return 0;
  if (a < 0 || b < 0) return kUnknownDim;
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return Overflow("multiplying", a, b);
  return product;
}

absl::StatusOr<int64_t> DivideDim(int64_t a, int64_t divisor, bool evenly) {
  if (divisor == 1) return a;
  if (a < 0 || divisor < 0) return kUnknownDim;
  if (divisor == 0)
    return absl::InvalidArgumentError(absl::StrCat("dimension size ", a, " is divided by 0"));
  if (evenly && a % divisor != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Dimension size must be evenly divisible by ", divisor, " but is ", a));
  }
  return a / divisor;
}

absl::StatusOr<PartialShape> MergeShapes(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank()) return b;
  if (!b.known_rank()) return a;
  if (a.rank() != b.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Shapes must be equal rank, but are ", a.rank(), " and ", b.rank()));
  }
  PartialShape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) < 0) {
      merged.set_dim(i, b.dim(i));
    } else if (b.dim(i) >= 0 && b.dim(i) != a.dim(i)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Dimension ", i, " in both shapes must be equal, but are ", a.dim(i), " and ", b.dim(i),
          ". Shapes are ", a.ToString(), " and ", b.ToString(), "."));
    }
  }
  return merged;
}

PartialShape Concatenate(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return PartialShape();
  PartialShape out = a;
  for (int64_t d : b.dims()) out.push_back(d);
  return out;
}

PartialShape Subshape(const PartialShape& s, int64_t begin, int64_t end) {
  if (!s.known_rank()) return PartialShape();
  const auto clamp = [&](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + s.rank() : i, 0, s.rank());
  };
  begin = clamp(begin);
  end = std::max(clamp(end), begin);
  return PartialShape(s.dims().subspan(begin, end - begin));
}

PartialShape ReplaceDim(PartialShape s, int axis, int64_t dim) {
  if (axis < 0) axis += s.rank();
  if (axis >= 0 && axis < s.rank()) s.set_dim(axis, dim);
  return s;
}

PartialShape CommonShape(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) return PartialShape();
  PartialShape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) out.set_dim(i, kUnknownDim);
  }
  return out;
}

absl::StatusOr<int64_t> CountTypes(InferenceContext& c, std::string_view attr) {
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> types, c.AttrTypeList(attr));
  return static_cast<int64_t>(types.size());
}

PartialShape Vector(int64_t size) { return PartialShape({size}); }
PartialShape Matrix(int64_t rows, int64_t columns) { return PartialShape({rows, columns}); }

absl::Status RequireRanks(InferenceContext& c, std::initializer_list<int> ranks) {
  int i = 0;
  for (int rank : ranks) {
    if (i >= c.num_inputs()) break;
    if (rank >= 0) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), rank).status());
    ++i;
  }
  return absl::OkStatus();
}

std::optional<int64_t> ScalarValue(InferenceContext& c, int i) {
  const std::optional<Dims> v = c.input_as_ints(i);
  if (!v || v->size() != 1) return std::nullopt;
  // In partly known values -1 stands for unknown; in a constant it is a value.
  if (v->front() == kUnknownDim && c.input_value(i) == nullptr) return std::nullopt;
  return v->front();
}

absl::StatusOr<int64_t> DimFromScalar(InferenceContext& c, int i) {
  // An input of the wrong rank fails here only if its value is a constant: TensorFlow's functions
  // look at the rank when they read the value.
  const absl::Status scalar = c.WithRank(c.input(i), 0).status();
  if (!scalar.ok()) {
    return c.input_value(i) != nullptr
               ? Invalid("Input must be scalar but has rank ", c.input(i).rank())
               : AtRunTime(scalar);
  }
  const std::optional<int64_t> v = ScalarValue(c, i);
  if (!v) return kUnknownDim;
  if (*v >= 0) return *v;
  return Invalid("Dimension size, given by scalar input ", i, ", must be non-negative but is ", *v);
}

std::optional<Dims> ConstantInts(InferenceContext& c, int i) {
  std::optional<Dims> v = c.input_as_ints(i);
  if (!v || c.input_value(i) != nullptr) return v;
  if (std::ranges::find(*v, kUnknownDim) != v->end()) return std::nullopt;
  return v;
}

std::optional<int> AxisIn(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) {
  if (const std::optional<int> in = AxisIn(axis, rank)) return *in;
  return absl::InvalidArgumentError(
      absl::StrCat("axis ", axis, " must be in the range [", -rank, ", ", rank, ")"));
}

absl::StatusOr<int> AxisByRank(InferenceContext& c, int64_t axis, const PartialShape& s) {
  if (const std::optional<int> in = AxisIn(axis, s.rank())) return *in;
  // One less than the rank that has such an axis; the least and the largest axis do not overflow.
  const int64_t others = std::min<int64_t>(axis < 0 ? ~axis : axis, INT_MAX - 1);
  return c.WithRankAtLeast(s, static_cast<int>(others) + 1).status();
}

void SetValue(InferenceContext& c, int i, std::optional<Dims> value) {
  if (!value || value->size() > static_cast<size_t>(kMaxShapeValueElements)) return;
  // Only scalars and vectors can be shapes, axes or sizes.
  if (c.output(i).shape.known_rank() && c.output(i).shape.rank() > 1) return;
  if (c.output_type(i) == DataType::kInt32) {
    // In int32 the kernel's result wraps: the value that was computed here is another.
    for (int64_t& v : *value) v = v == static_cast<int32_t>(v) ? v : kUnknownDim;
  } else if (c.output_type(i) != DataType::kInt64) {
    return;
  }
  // A value without a known element says no more than the shape.
  const auto unknown = [](int64_t v) { return v == kUnknownDim; };
  if (!value->empty() && std::all_of(value->begin(), value->end(), unknown)) return;
  c.set_output_value(i, *std::move(value));
}

absl::Status SetOutputs(InferenceContext& c, std::initializer_list<PartialShape> shapes) {
  int i = 0;
  for (const PartialShape& s : shapes) {
    if (i < c.num_outputs()) c.set_output(i++, s);
  }
  return absl::OkStatus();
}

absl::Status UnchangedShape(InferenceContext& c) {
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status IdentityShape(InferenceContext& c) {
  c.output(0) = c.input_info(0);
  return absl::OkStatus();
}

absl::Status EachUnchangedShape(InferenceContext& c) {
  for (int i = 0; i < std::min(c.num_inputs(), c.num_outputs()); ++i) c.output(i) = c.input_info(i);
  return absl::OkStatus();
}

absl::Status CheckPrefix(InferenceContext& c, const PartialShape& s, const PartialShape& prefix) {
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(s, prefix.rank()).status());
  for (int i = 0; i < prefix.rank(); ++i)
    TENON_RETURN_IF_ERROR(c.MergeDim(s.dim(i), prefix.dim(i)).status());
  return absl::OkStatus();
}

absl::StatusOr<PartialShape> MergeInputs(InferenceContext& c) {
  PartialShape merged = c.input(c.num_inputs() - 1);
  for (int i = c.num_inputs() - 2; i >= 0; --i) {
    absl::StatusOr<PartialShape> both = MergeShapes(c.input(i), merged);
    if (!both.ok()) {
      return Annotate(both.status(), "",
                      absl::StrCat("\n\tFrom merging shape ", i, " with other shapes."));
    }
    merged = *std::move(both);
  }
  return merged;
}

absl::Status MergedInputsShape(InferenceContext& c) {
  const bool is_list = !c.op().inputs.empty() && !c.op().inputs[0].number_attr.empty();
  PartialShape merged = c.input(0);
  if (is_list) {
    TENON_ASSIGN_OR_RETURN(merged, MergeInputs(c));
  }
  for (int i = 1; i < c.num_inputs() && !is_list; ++i) {
    TENON_ASSIGN_OR_RETURN(merged, MergeShapes(merged, c.input(i)));
  }
  c.set_output(0, std::move(merged));
  return absl::OkStatus();
}

absl::Status ScalarShape(InferenceContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
  return absl::OkStatus();
}

absl::Status BroadcastBinaryShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.Broadcast(c.input(0), c.input(1)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ExplicitShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape shape, c.AttrShape("shape"));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

}  // namespace tenon::ops
