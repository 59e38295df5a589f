// Shape functions of reductions, cumulative ops and segments.

#include "absl/strings/str_replace.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {

// The input without the reduced dimensions, or with 1 in their place (keep_dims). Unknown axes
// still leave the rank known with keep_dims.
absl::Status ReductionShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(1), 1).status());
  TENON_ASSIGN_OR_RETURN(
      const bool keep_dims,
      c.AttrBool(c.op().FindAttr("keep_dims") != nullptr ? "keep_dims" : "keepdims"));
  const PartialShape& in = c.input(0);
  const std::optional<Dims> axes = ConstantInts(c, 1);
  if (!in.known_rank()) return absl::OkStatus();
  if (!axes) {
    if (keep_dims) c.set_output(0, PartialShape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  std::vector<bool> reduced(in.rank());
  for (int64_t a : *axes) {
    const std::optional<int> axis = AxisIn(a, in.rank());
    if (!axis) {
      return Invalid("Invalid reduction dimension ", a, " for input with ", in.rank(),
                     " dimensions.");
    }
    reduced[*axis] = true;
  }
  PartialShape out = Shape();
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) {
      out.push_back(in.dim(i));
    } else if (keep_dims) {
      out.push_back(1);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The product of a shape's dimensions is often the number of rows that a Reshape asks for.
absl::Status ProdShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(ReductionShape(c));
  const std::optional<Dims> v = c.followed_ints(0);
  if (!v || c.input(0).rank() != 1 || c.output(0).shape.num_elements() != 1)
    return absl::OkStatus();
  int64_t product = 1;
  for (int64_t d : *v) {
    if (d < 0 || __builtin_mul_overflow(product, d, &product)) return absl::OkStatus();
  }
  SetValue(c, 0, Dims{product});
  return absl::OkStatus();
}

// The input without dimension `axis`. Up to rank 1 the axis need not be known.
absl::Status ArgMaxShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 0}));
  const PartialShape& in = c.input(0);
  if (!in.known_rank()) return absl::OkStatus();
  const std::optional<int64_t> axis = ScalarValue(c, 1);
  if (in.rank() <= 1) {
    c.set_output(0, Shape());
    return absl::OkStatus();
  }
  if (!axis) {
    c.set_output(0, PartialShape::UnknownOfRank(in.rank() - 1));
    return absl::OkStatus();
  }
  const std::optional<int> dropped = AxisIn(*axis, in.rank());
  if (!dropped) {
    return Invalid("Dimension (", *axis, ") must be in the range [", -in.rank(), ", ", in.rank(),
                   "), where ", in.rank(), " is the number of dimensions in the input.");
  }
  c.set_output(0, Concatenate(Subshape(in, 0, *dropped), Subshape(in, *dropped + 1)));
  return absl::OkStatus();
}

// The axis is the kernel's to check: whatever it is, a run that succeeds keeps the shape.
absl::Status CumulativeShape(InferenceContext& c) { return UnchangedShape(c); }

// The value of scalar input i; kUnknownDim where it is not known. `negative` says what a negative
// one may not be.
absl::StatusOr<int64_t> CountOf(InferenceContext& c, int i, std::string_view negative) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 0).status());
  const std::optional<int64_t> count = ScalarValue(c, i);
  if (count && *count < 0)
    return Invalid(absl::StrReplaceAll(negative, {{"#", absl::StrCat(*count)}}));
  return count.value_or(kUnknownDim);
}
constexpr std::string_view kNegativeSize = "size (#) must be non-negative";

absl::Status BincountShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t size, CountOf(c, 1, kNegativeSize));
  c.set_output(0, Vector(size));
  return absl::OkStatus();
}

// [n] -> [size]; [batch, n] -> [batch, size].
absl::Status DenseBincountShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t size, CountOf(c, 1, kNegativeSize));
  const PartialShape& in = c.input(0);
  if (!in.known_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(in, 2).status());
  TENON_RETURN_IF_ERROR(AtRunTime(c.WithRankAtLeast(in, 1).status()));
  c.set_output(0, in.rank() == 1 ? Vector(size) : Matrix(in.dim(0), size));
  return absl::OkStatus();
}

absl::Status HistogramShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1}));
  TENON_RETURN_IF_ERROR(c.WithSize(c.input(1).dim(0), 2).status());
  TENON_ASSIGN_OR_RETURN(const int64_t bins, CountOf(c, 2, "Requires nbins > 0: #"));
  if (bins == 0) return Invalid("Requires nbins > 0: 0");
  c.set_output(0, Vector(bins));
  return absl::OkStatus();
}

// The number of segments is known at run time only.
absl::Status SegmentShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape data, c.WithRankAtLeast(c.input(0), 1));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1}));
  c.set_output(0, Concatenate(Vector(kUnknownDim), Subshape(data, 1)));
  return absl::OkStatus();
}

// [ids..., row...] -> [segments, row...].
absl::Status UnsortedSegmentShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(2), 0).status());
  const absl::StatusOr<int64_t> count = DimFromScalar(c, 2);
  const PartialShape& data = c.input(0);
  const PartialShape& ids = c.input(1);
  // Without the ids' rank TensorFlow's function does not look at the count.
  if (!ids.known_rank()) return AtRunTime(count.status());
  if (!data.known_rank()) return count.status();
  TENON_ASSIGN_OR_RETURN(const int64_t segments, count);
  TENON_RETURN_IF_ERROR(CheckPrefix(c, data, ids));
  c.set_output(0, Concatenate(Vector(segments), Subshape(data, ids.rank())));
  return absl::OkStatus();
}

absl::Status SparseSegmentShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape data, c.WithRankAtLeast(c.input(0), 1));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1}));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), c.input(2)).status());
  int64_t segments = kUnknownDim;
  if (c.num_inputs() > 3) {
    TENON_ASSIGN_OR_RETURN(segments,
                           CountOf(c, 3, "Cannot specify a negative value for num_segments"));
  }
  c.set_output(0, Concatenate(Vector(segments), Subshape(data, 1)));
  return absl::OkStatus();
}

absl::Status SparseSegmentGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape data, c.WithRankAtLeast(c.input(0), 1));
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(1), 1));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(2), indices).status());
  TENON_ASSIGN_OR_RETURN(const int64_t rows,
                         CountOf(c, 3, "Cannot specify a negative value for output_dim0"));
  c.set_output(0, Concatenate(Vector(rows), Subshape(data, 1)));
  return absl::OkStatus();
}

// Only the rows that are not zero, and their numbers.
absl::Status SparseSegmentGradV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape data, c.WithRankAtLeast(c.input(0), 1));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1, 0}));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), c.input(2)).status());
  return SetOutputs(c, {Concatenate(Vector(kUnknownDim), Subshape(data, 1)), Vector(kUnknownDim)});
}

}  // namespace tenon::ops
