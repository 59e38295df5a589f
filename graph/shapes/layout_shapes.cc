// Padding, blocks of space, diagonals.
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// Element [row, column] of a constant two-column matrix; nullopt if unknown.
std::optional<int64_t> PairAt(const std::optional<Dims>& pairs, int row, int column) {
  const size_t at = static_cast<size_t>(row) * 2 + column;
  if (!pairs || at >= pairs->size()) return std::nullopt;
  return (*pairs)[at];
}

// Input `i` as a [rank, 2] matrix; gives the other input's shape with that rank where it is known.
absl::StatusOr<PartialShape> WithRankOfPaddings(InferenceContext& c, int i) {
  TENON_ASSIGN_OR_RETURN(const PartialShape pads, c.WithRank(c.input(i), 2));
  // TensorFlow's function of the gradient looks at the pairs only once it knows how many there are,
  // and after the rank.
  const bool of_gradient = c.op().name == "MirrorPadGrad";
  if (!of_gradient) TENON_RETURN_IF_ERROR(c.WithSize(pads.dim(1), 2).status());
  if (pads.dim(0) < 0) {
    if (of_gradient) TENON_RETURN_IF_ERROR(AtRunTime(c.WithSize(pads.dim(1), 2).status()));
    return c.input(0);
  }
  if (pads.dim(0) > kMaxRank)
    return absl::InvalidArgumentError(absl::StrCat("paddings for ", pads.dim(0), " dimensions"));
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(c.input(0), static_cast<int>(pads.dim(0))));
  if (of_gradient) TENON_RETURN_IF_ERROR(MergeShapes(pads, Matrix(in.rank(), 2)).status());
  return in;
}

// Adds (`grow`) or takes off the paddings of a [rank, 2] matrix.
absl::Status PadInput(InferenceContext& c, bool grow) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, WithRankOfPaddings(c, 1));
  const std::optional<Dims> pads = ConstantInts(c, 1);
  if (!out.known_rank()) return absl::OkStatus();
  for (int i = 0; i < out.rank(); ++i) {
    const std::optional<int64_t> before = PairAt(pads, i, 0), after = PairAt(pads, i, 1);
    if (!before || !after) {
      out.set_dim(i, kUnknownDim);
      continue;
    }
    if (*before < 0 || *after < 0) {
      return Invalid("Paddings must be non-negative");
    }
    TENON_ASSIGN_OR_RETURN(const int64_t both, AddDims(*before, *after));
    TENON_ASSIGN_OR_RETURN(const int64_t dim,
                           grow ? AddDims(out.dim(i), both) : SubtractDims(out.dim(i), both));
    out.set_dim(i, dim);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Channels in groups of four, of which kernels for the CPU know nothing.
constexpr std::string_view kVectorised = "NCHW_VECT_C";

// Which dimensions are the image's height and width, and the channels.
struct ImageDims {
  int height, width, channels;
};
absl::StatusOr<ImageDims> ImageDimsOf(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string_view format, c.AttrString("data_format"));
  return format == "NHWC" ? ImageDims{1, 2, 3} : ImageDims{2, 3, 1};
}

// Blocks of space (ND or 2-D) moved to (`to_batch`) or from the batch dimension.
absl::Status SpaceAndBatch(InferenceContext& c, PartialShape in, std::optional<Dims> blocks,
                           const std::optional<Dims>& pads, int64_t block_rank, bool to_batch) {
  if (!in.known_rank()) return absl::OkStatus();
  if (block_rank < 0) {
    c.set_output(0, PartialShape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_RETURN_IF_ERROR(
      c.WithRankAtLeast(in, static_cast<int>(std::min<int64_t>(block_rank, kMaxRank)) + 1)
          .status());
  int64_t batch = in.dim(0);
  for (int i = 0; i < block_rank; ++i) {
    int64_t dim = in.dim(i + 1);
    const std::optional<int64_t> before = PairAt(pads, i, 0), after = PairAt(pads, i, 1);
    if (blocks && (*blocks)[i] < 1) {
      return Invalid("block_shape must be positive");
    }
    if (before && after && (*before < 0 || *after < 0)) {
      return Invalid(to_batch ? "paddings" : "crops", " cannot be negative");
    }
    const int64_t block = blocks ? (*blocks)[i] : kUnknownDim;
    if (to_batch) {
      dim = before && after ? dim : kUnknownDim;
      TENON_ASSIGN_OR_RETURN(dim, AddDims(dim, before && after ? *before + *after : 0));
      TENON_ASSIGN_OR_RETURN(dim, block > 0 ? DivideDim(dim, block, /*evenly=*/true)
                                            : absl::StatusOr<int64_t>(kUnknownDim));
      TENON_ASSIGN_OR_RETURN(batch, MultiplyDims(batch, block));
    } else {
      TENON_ASSIGN_OR_RETURN(dim, MultiplyDims(dim, block));
      if (!before || !after) {
        dim = kUnknownDim;
      } else {
        TENON_ASSIGN_OR_RETURN(dim, SubtractDims(dim, *before));
        TENON_ASSIGN_OR_RETURN(dim, SubtractDims(dim, *after));
      }
      TENON_ASSIGN_OR_RETURN(batch, block > 0 ? DivideDim(batch, block, /*evenly=*/true)
                                              : absl::StatusOr<int64_t>(kUnknownDim));
    }
    in.set_dim(i + 1, dim);
  }
  in.set_dim(0, batch);
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

absl::Status SpaceAndBatchND(InferenceContext& c, bool to_batch) {
  const PartialShape& blocks = c.input(1);
  if (blocks.known_rank() && blocks.rank() != 1) return Invalid("block_shape must have rank 1.");
  if (const int64_t count = blocks.dim(0); count >= 0 && count < kMaxRank)
    TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(0), static_cast<int>(count) + 1).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape pads,
                         MergeShapes(c.input(2), Matrix(blocks.dim(0), 2)));
  const int64_t block_rank = pads.dim(0);
  return SpaceAndBatch(c, c.input(0), ConstantInts(c, 1), ConstantInts(c, 2), block_rank, to_batch);
}

absl::Status SpaceAndBatch2D(InferenceContext& c, bool to_batch) {
  TENON_ASSIGN_OR_RETURN(const int64_t block, c.AttrInt("block_size"));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {4}));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), PartialShape({2, 2})).status());
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(c.input(0), 4));
  return SpaceAndBatch(c, std::move(in), Dims{block, block}, ConstantInts(c, 1), 2, to_batch);
}

}  // namespace

absl::Status PadShape(InferenceContext& c) { return PadInput(c, /*grow=*/true); }
absl::Status MirrorPadGradShape(InferenceContext& c) { return PadInput(c, /*grow=*/false); }

absl::Status SpaceToBatchNDShape(InferenceContext& c) {
  return SpaceAndBatchND(c, /*to_batch=*/true);
}
absl::Status BatchToSpaceNDShape(InferenceContext& c) {
  return SpaceAndBatchND(c, /*to_batch=*/false);
}
absl::Status SpaceToBatchShape(InferenceContext& c) {
  return SpaceAndBatch2D(c, /*to_batch=*/true);
}
absl::Status BatchToSpaceShape(InferenceContext& c) {
  return SpaceAndBatch2D(c, /*to_batch=*/false);
}

// Blocks of space move to the channels: height and width are divided, channels multiplied by the
// block's area.
absl::Status SpaceToDepthShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string_view format, c.AttrString("data_format"));
  if (format == kVectorised) return c.WithRank(c.input(0), 5).status();
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const int64_t block, c.AttrInt("block_size"));
  TENON_ASSIGN_OR_RETURN(const ImageDims at, ImageDimsOf(c));
  for (int i : {at.height, at.width}) {
    TENON_ASSIGN_OR_RETURN(const int64_t d, DivideDim(s.dim(i), block, /*evenly=*/true));
    s.set_dim(i, d);
  }
  TENON_ASSIGN_OR_RETURN(const int64_t area, MultiplyDims(block, block));
  TENON_ASSIGN_OR_RETURN(const int64_t depth, MultiplyDims(s.dim(at.channels), area));
  s.set_dim(at.channels, depth);
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// The inverse of SpaceToDepth.
absl::Status DepthToSpaceShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string_view format, c.AttrString("data_format"));
  if (format == kVectorised) return c.WithRank(c.input(0), 5).status();
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const int64_t block, c.AttrInt("block_size"));
  TENON_ASSIGN_OR_RETURN(const ImageDims at, ImageDimsOf(c));
  for (int i : {at.height, at.width}) {
    TENON_ASSIGN_OR_RETURN(const int64_t d, MultiplyDims(s.dim(i), block));
    s.set_dim(i, d);
  }
  TENON_ASSIGN_OR_RETURN(const int64_t area, MultiplyDims(block, block));
  TENON_ASSIGN_OR_RETURN(const int64_t depth, DivideDim(s.dim(at.channels), area, /*evenly=*/true));
  s.set_dim(at.channels, depth);
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

absl::Status AtLeastMatrixShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, AtRunTime(c.WithRankAtLeast(c.input(0), 2)));
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// [D...] -> [D..., D...].
absl::Status DiagShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  c.set_output(0, Concatenate(in, in));
  return absl::OkStatus();
}

// [D..., D...] -> [D...].
absl::Status DiagPartShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.known_rank()) return absl::OkStatus();
  if (in.rank() % 2 != 0 || in.rank() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Input must have even and non-zero rank, input rank is ", in.rank()));
  }
  PartialShape half = Subshape(in, 0, in.rank() / 2);
  for (int i = 0; i < half.rank(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t dim, c.MergeDim(half.dim(i), in.dim(i + half.rank())));
    half.set_dim(i, dim);
  }
  c.set_output(0, std::move(half));
  return absl::OkStatus();
}

// [..., N] -> [..., N, N].
absl::Status MatrixDiagShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  if (in.known_rank()) c.set_output(0, Concatenate(in, Vector(in.dim(-1))));
  return absl::OkStatus();
}

// [..., M, N] -> [..., min(M, N)].
absl::Status MatrixDiagPartShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 2));
  if (!in.known_rank()) return absl::OkStatus();
  const int64_t rows = in.dim(-2), columns = in.dim(-1);
  const int64_t length = rows < 0 || columns < 0 ? kUnknownDim : std::min(rows, columns);
  c.set_output(0, Concatenate(Subshape(in, 0, -2), Vector(length)));
  return absl::OkStatus();
}

// [..., M, N] and a diagonal [..., min(M, N)] -> [..., M, N].
absl::Status MatrixSetDiagShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape diagonal, c.WithRankAtLeast(c.input(1), 1));
  PartialShape out = in;
  if (in.known_rank()) {
    const int64_t rows = in.dim(-2), columns = in.dim(-1);
    const int64_t length = rows < 0 || columns < 0 ? kUnknownDim : std::min(rows, columns);
    TENON_RETURN_IF_ERROR(c.WithRank(diagonal, in.rank() - 1).status());
    TENON_RETURN_IF_ERROR(c.MergeDim(length, diagonal.dim(-1)).status());
    TENON_RETURN_IF_ERROR(AtRunTime(
        MergeShapes(Concatenate(Subshape(in, 0, -2), Vector(length)), diagonal).status()));
  } else if (diagonal.known_rank()) {
    out = Concatenate(Subshape(diagonal, 0, -1), Matrix(kUnknownDim, kUnknownDim));
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

namespace {

// k = [lowest, highest] of a band of diagonals.
struct Band {
  int64_t low, high;
};
absl::StatusOr<std::optional<Band>> BandOf(InferenceContext& c, int input) {
  const std::optional<Dims> k = ConstantInts(c, input);
  if (!k) return std::optional<Band>();
  if (k->empty() || k->size() > 2)
    return Invalid("diag_index must be a vector with one or two elements. It has ", k->size(),
                   " elements.");
  const Band band{k->front(), k->back()};
  if (band.low > band.high) {
    return Invalid("lower_diag_index is greater than upper_diag_index");
  }
  return std::optional(band);
}

// Diagonals are counted from the main one, 0; negative ones lie below it. Where only rows or only
// columns are known TensorFlow lets the node pass, so the error is left to the run.
absl::Status CheckBand(const Band& band, int64_t rows, int64_t columns) {
  const bool known = rows >= 0 && columns >= 0;
  for (int64_t k : {band.low, band.high}) {
    const bool below = rows >= 0 && k < 0 && k <= -rows;
    const bool above = columns >= 0 && k > 0 && k >= columns;
    if (below || above) {
      absl::Status status =
          Invalid(k == band.low ? "lower" : "upper", "_diag_index is out of bound.");
      return known ? status : AtRunTime(std::move(status));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// [..., M, N] -> [..., number of diagonals, length of the longest]. A single diagonal has no
// dimension for the number.
absl::Status MatrixDiagPartV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 2));
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(1), 1).status());
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 0}));
  const absl::StatusOr<std::optional<Band>> given = BandOf(c, 1);
  if (!in.known_rank()) return AtRunTime(given.status());
  TENON_ASSIGN_OR_RETURN(const std::optional<Band> band, given);
  if (!band) return absl::OkStatus();
  const int64_t rows = in.dim(-2), columns = in.dim(-1);
  TENON_RETURN_IF_ERROR(CheckBand(*band, rows, columns));
  PartialShape out = Subshape(in, 0, -2);
  if (band->low < band->high) out.push_back(band->high - band->low + 1);
  const bool known = rows >= 0 && columns >= 0;
  out.push_back(known ? std::min(rows + std::min<int64_t>(band->high, 0),
                                 columns - std::max<int64_t>(band->low, 0))
                      : kUnknownDim);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The inverse of MatrixDiagPartV2. Rows and columns may be given (-1: not given); one or both must
// be the least that hold the diagonals. Where they are not known they stay unknown: TensorFlow
// takes the default then, which is unsound.
absl::Status MatrixDiagV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(1), 1).status());
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 0, 0, 0}));
  const absl::StatusOr<std::optional<Band>> given = BandOf(c, 1);
  if (!in.known_rank()) return AtRunTime(given.status());
  TENON_ASSIGN_OR_RETURN(const std::optional<Band> band, given);
  if (!band) return absl::OkStatus();
  const bool many = band->low < band->high;
  if (many) {
    // Of a vector TensorFlow takes the only dimension for the number of diagonals.
    const int64_t given_count = in.dim(in.rank() == 1 ? 0 : -2);
    if (given_count >= 0 && given_count != band->high - band->low + 1) {
      return Invalid(
          "The number of rows of `diagonal` doesn't match the number of diagonals implied from "
          "`d_lower` and `d_upper`.\n",
          "num_diags = ", given_count, ", d_lower = ", band->low, ", d_upper = ", band->high, " ",
          in.rank(), " ", in.dim(-1));
    }
    TENON_RETURN_IF_ERROR(AtRunTime(c.WithRankAtLeast(in, 2).status()));
  }
  std::optional<int64_t> rows = ScalarValue(c, 2), columns = ScalarValue(c, 3);
  int64_t r = kUnknownDim, n = kUnknownDim;
  if (in.dim(-1) >= 0) {
    TENON_ASSIGN_OR_RETURN(const int64_t min_rows,
                           AddDims(in.dim(-1), -std::min<int64_t>(band->high, 0)));
    TENON_ASSIGN_OR_RETURN(const int64_t min_columns,
                           AddDims(in.dim(-1), std::max<int64_t>(band->low, 0)));
    const bool rows_unset = rows == -1, columns_unset = columns == -1;
    if (rows && !rows_unset && *rows < min_rows) return Invalid("num_rows is too small");
    if (columns && !columns_unset && *columns < min_columns)
      return Invalid("num_cols is too small.");
    r = rows.value_or(kUnknownDim);
    n = columns.value_or(kUnknownDim);
    if (rows_unset && columns_unset) {
      r = n = std::max(min_rows, min_columns);
    } else if (rows_unset && n >= 0) {
      r = min_rows;
    } else if (columns_unset && r >= 0) {
      n = min_columns;
    }
    if (r >= 0 && n >= 0 && r != min_rows && n != min_columns) {
      return Invalid(
          "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and "
          "the length of the given diagonals.\n",
          "num_rows = ", r, " != min_num_rows = ", min_rows, ", num_cols = ", n,
          " != min_num_cols = ", min_columns);
    }
  }
  c.set_output(0, Concatenate(Subshape(in, 0, many ? -2 : -1), Matrix(r, n)));
  return absl::OkStatus();
}

absl::Status MatrixSetDiagV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape diagonal, c.WithRankAtLeast(c.input(1), 1));
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(2), 1).status());
  TENON_ASSIGN_OR_RETURN(const std::optional<Band> band, BandOf(c, 2));
  if (!band && in.known_rank()) {
    TENON_RETURN_IF_ERROR(c.WithRankAtLeast(diagonal, in.rank() - 1).status());
    TENON_RETURN_IF_ERROR(c.WithRankAtMost(diagonal, in.rank()).status());
  }
  if (band && in.known_rank()) {
    const int64_t rows = in.dim(-2), columns = in.dim(-1);
    PartialShape wanted = Subshape(in, 0, -2);
    if (band->low < band->high) wanted.push_back(band->high - band->low + 1);
    TENON_RETURN_IF_ERROR(c.WithRank(diagonal, wanted.rank() + 1).status());
    TENON_RETURN_IF_ERROR(CheckBand(*band, rows, columns));
    const bool known = rows >= 0 && columns >= 0;
    wanted.push_back(known ? std::min(rows + std::min<int64_t>(band->high, 0),
                                      columns - std::max<int64_t>(band->low, 0))
                           : kUnknownDim);
    TENON_RETURN_IF_ERROR(AtRunTime(MergeShapes(wanted, diagonal).status()));
  } else if (band && diagonal.known_rank()) {
    in = Concatenate(Subshape(diagonal, 0, band->low < band->high ? -2 : -1),
                     Matrix(kUnknownDim, kUnknownDim));
  }
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

}  // namespace tenon::ops
