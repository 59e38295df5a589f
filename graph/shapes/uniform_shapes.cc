// Uniformly quantized products: scales and zero points are scalars or vectors with a value for each
// output feature.
#include "graph/shapes/shapes.h"
#include "graph/shapes/uniform_convolution.h"

namespace tenon::ops {
namespace {

// Inputs i and i + 1, scales and zero points.
absl::Status CheckScales(InferenceContext& c, int i, int64_t features) {
  const PartialShape &scales = c.input(i), &zeros = c.input(i + 1);
  if (!scales.known_rank() || !zeros.known_rank()) return absl::OkStatus();
  if (scales.rank() != zeros.rank())
    return absl::InvalidArgumentError("scales and zero_points must have same rank.");
  if (scales.rank() == 0) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(c.MergeDim(scales.dim(0), features).status());
  return c.MergeDim(zeros.dim(0), features).status();
}

// The hybrid ops have scales for the rhs only, and so two inputs behind lhs and rhs.
bool IsHybrid(const InferenceContext& c) { return c.num_inputs() == 4; }

// The lhs, whose range is inputs 2 and 3 where the op has it, is quantized as a whole; the rhs and
// the output may be quantized by channel.
absl::Status CheckRanks(InferenceContext& c) {
  for (int i = 2; i < c.num_inputs(); ++i) {
    const int most = !IsHybrid(c) && i < 4 ? 0 : 1;
    TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(i), most).status());
  }
  return absl::OkStatus();
}

absl::Status CheckAllScales(InferenceContext& c, int64_t features) {
  TENON_RETURN_IF_ERROR(CheckScales(c, IsHybrid(c) ? 2 : 4, features));
  return IsHybrid(c) ? absl::OkStatus() : CheckScales(c, 6, features);
}

}  // namespace

absl::Status UniformDotShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape lhs, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRank(c.input(1), 2));
  TENON_RETURN_IF_ERROR(CheckRanks(c));
  TENON_RETURN_IF_ERROR(c.MergeDim(lhs.dim(1), rhs.dim(0)).status());
  TENON_RETURN_IF_ERROR(CheckAllScales(c, rhs.dim(1)));
  c.set_output(0, Matrix(lhs.dim(0), rhs.dim(1)));
  return absl::OkStatus();
}

absl::Status UniformConvolutionShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape lhs, c.WithRankAtLeast(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(c.input(1), 2));
  TENON_RETURN_IF_ERROR(CheckRanks(c));
  if (!lhs.known_rank() && !rhs.known_rank()) return absl::OkStatus();
  if (lhs.known_rank() && rhs.known_rank() && lhs.rank() != rhs.rank())
    return absl::InvalidArgumentError("lhs and rhs must have same rank.");
  c.set_output(0, PartialShape::UnknownOfRank(std::max(lhs.rank(), rhs.rank())));
  const std::optional<Shape> lhs_shape = lhs.ToShape(), rhs_shape = rhs.ToShape();
  if (!lhs_shape.has_value() || !rhs_shape.has_value()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const UniformConvolutionAttrs attrs, ReadUniformConvolutionAttrs(c));
  TENON_ASSIGN_OR_RETURN(const UniformConvolution conv,
                         MakeUniformConvolution(attrs, *lhs_shape, *rhs_shape));
  TENON_RETURN_IF_ERROR(CheckAllScales(c, rhs.dim(static_cast<int>(conv.rhs.batch))));
  if (!IsHybrid(c) && c.input(6).rank() > 0)
    TENON_RETURN_IF_ERROR(c.MergeDim(c.input(4).dim(0), c.input(6).dim(0)).status());
  c.set_output(0, conv.out_shape);
  return absl::OkStatus();
}

}  // namespace tenon::ops
