// Shape functions of linear algebra, Fourier transforms and Einsum. Matrices stand in the last two
// dimensions, behind batches.

#include "graph/base/annotate.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

absl::Status MultiplyMatrices(InferenceContext& c, std::string_view left, std::string_view right) {
  TENON_ASSIGN_OR_RETURN(const PartialShape a, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(c.input(1), 2));
  TENON_ASSIGN_OR_RETURN(const bool ta, c.AttrBool(left));
  TENON_ASSIGN_OR_RETURN(const bool tb, c.AttrBool(right));
  TENON_RETURN_IF_ERROR(c.MergeDim(a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0)).status());
  c.set_output(0, Matrix(a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)));
  return absl::OkStatus();
}

// [..., M, N] -> batch, M, N, min(M, N).
struct MatrixDims {
  PartialShape batch;
  int64_t rows, columns, smaller;
};
absl::StatusOr<MatrixDims> MatrixDimsOf(InferenceContext& c, int input) {
  TENON_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(c.input(input), 2));
  const int64_t m = s.dim(-2), n = s.dim(-1);
  return MatrixDims{Subshape(s, 0, -2), m, n, m < 0 || n < 0 ? kUnknownDim : std::min(m, n)};
}

// The same for a square matrix: rows and columns are merged.
absl::StatusOr<MatrixDims> SquareDimsOf(InferenceContext& c, int input) {
  TENON_ASSIGN_OR_RETURN(MatrixDims d, MatrixDimsOf(c, input));
  const bool determinant = c.op().name.ends_with("Determinant");
  TENON_ASSIGN_OR_RETURN(
      d.smaller, determinant ? c.MergeDim(d.columns, d.rows) : c.MergeDim(d.rows, d.columns));
  d.rows = d.columns = d.smaller;
  return d;
}

// [..., M, N] and [..., M, K] -> [..., N, K].
absl::Status Solve(InferenceContext& c, bool square, bool broadcast) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims a, square ? SquareDimsOf(c, 0) : MatrixDimsOf(c, 0));
  TENON_ASSIGN_OR_RETURN(const MatrixDims b, MatrixDimsOf(c, 1));
  const absl::StatusOr<PartialShape> merged = MergeShapes(a.batch, b.batch);
  if (!broadcast) TENON_RETURN_IF_ERROR(merged.status());
  TENON_RETURN_IF_ERROR(c.MergeDim(a.rows, b.rows).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape batch,
                         broadcast ? c.Broadcast(a.batch, b.batch) : merged);
  TENON_ASSIGN_OR_RETURN(const int64_t rows, square ? c.MergeDim(a.columns, b.rows)
                                                    : absl::StatusOr<int64_t>(a.columns));
  c.set_output(0, Concatenate(batch, Matrix(rows, b.columns)));
  return absl::OkStatus();
}

absl::Status MergeInto(InferenceContext& c, int rank) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(c.input(0), rank));
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// Real transforms of the innermost `rank` dimensions; input 1 holds their lengths on the real side.
// On the complex side the innermost has only n / 2 + 1 elements: the rest of a real signal's
// spectrum are conjugates of these. A length of 0 stays 0.
absl::Status RealFft(InferenceContext& c, int rank, bool forward) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(c.input(0), rank));
  TENON_ASSIGN_OR_RETURN(const PartialShape lengths, c.WithRank(c.input(1), 1));
  TENON_RETURN_IF_ERROR(c.WithSize(lengths.dim(0), rank).status());
  if (!s.known_rank()) return absl::OkStatus();
  const std::optional<Dims> n = ConstantInts(c, 1);
  for (int i = 0; i < rank; ++i) {
    int64_t d = n ? (*n)[i] : kUnknownDim;
    if (d < kUnknownDim)
      return AtRunTime(absl::InvalidArgumentError(absl::StrCat("fft_length[", i, "] is ", d)));
    if (forward && i == rank - 1 && d > 0) d = d / 2 + 1;
    s.set_dim(s.rank() - rank + i, d);
  }
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Status MatMulShape(InferenceContext& c) {
  return MultiplyMatrices(c, "transpose_a", "transpose_b");
}
absl::Status SparseMatMulShape(InferenceContext& c) {
  return MultiplyMatrices(c, "transpose_a", "transpose_b");
}

// [..., M, K] and [..., K, N] -> [..., M, N]. The first version requires equal batch dimensions,
// later ones broadcast them.
absl::Status BatchMatMulShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape a, c.WithRankAtLeast(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape b, c.WithRankAtLeast(c.input(1), 2));
  TENON_ASSIGN_OR_RETURN(const bool ta, c.AttrBool("adj_x"));
  TENON_ASSIGN_OR_RETURN(const bool tb, c.AttrBool("adj_y"));
  const bool broadcasts = c.op().name != "BatchMatMul";
  // Broadcasting needs both ranks: without one even the rank of the result is unknown.
  if (broadcasts && (!a.known_rank() || !b.known_rank())) return absl::OkStatus();
  const PartialShape x = Subshape(a, 0, -2), y = Subshape(b, 0, -2);
  const absl::StatusOr<PartialShape> merged = MergeShapes(x, y);
  if (!broadcasts) TENON_RETURN_IF_ERROR(merged.status());
  TENON_RETURN_IF_ERROR(c.MergeDim(a.dim(ta ? -2 : -1), b.dim(tb ? -1 : -2)).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape batch, broadcasts ? c.Broadcast(x, y) : merged);
  c.set_output(0, Concatenate(batch, Matrix(a.dim(ta ? -1 : -2), b.dim(tb ? -2 : -1))));
  return absl::OkStatus();
}

absl::Status SquareMatrixShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims d, SquareDimsOf(c, 0));
  c.set_output(0, Concatenate(d.batch, Matrix(d.rows, d.columns)));
  return absl::OkStatus();
}

absl::Status DeterminantShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims d, SquareDimsOf(c, 0));
  return SetOutputs(c, {d.batch, d.batch});
}

absl::Status MatrixSolveShape(InferenceContext& c) {
  return Solve(c, /*square=*/true, /*broadcast=*/false);
}
absl::Status MatrixSolveLsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 0}));
  return Solve(c, /*square=*/false, /*broadcast=*/false);
}
absl::Status MatrixTriangularSolveShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(0), 2).status());
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(1), 2).status());
  // Batches broadcast, so without both ranks nothing is known of the result.
  if (!c.input(0).known_rank() || !c.input(1).known_rank()) return absl::OkStatus();
  return Solve(c, /*square=*/true, /*broadcast=*/true);
}

// Diagonals [..., 3, M] and right sides [..., M, K].
absl::Status TridiagonalSolveShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims lhs, MatrixDimsOf(c, 0));
  TENON_ASSIGN_OR_RETURN(const MatrixDims rhs, MatrixDimsOf(c, 1));
  TENON_RETURN_IF_ERROR(MergeShapes(lhs.batch, rhs.batch).status());
  TENON_RETURN_IF_ERROR(c.MergeDim(lhs.columns, rhs.rows).status());
  TENON_RETURN_IF_ERROR(c.WithSize(lhs.rows, 3).status());
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

// Three diagonals [..., 1, M] of one shape and a matrix [..., M, K].
absl::Status TridiagonalMatMulShape(InferenceContext& c) {
  for (int i = 0; i < 4; ++i) TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(i), 2).status());
  const PartialShape &super = c.input(0), &main = c.input(1), &below = c.input(2);
  const PartialShape& right = c.input(3);
  for (const auto& [a, b] : {std::pair(&super, &main), {&main, &right}, {&below, &right}})
    TENON_RETURN_IF_ERROR(MergeShapes(Subshape(*a, 0, -2), Subshape(*b, 0, -2)).status());
  TENON_RETURN_IF_ERROR(MergeShapes(super, main).status());
  TENON_RETURN_IF_ERROR(MergeShapes(main, below).status());
  TENON_RETURN_IF_ERROR(c.MergeDim(super.dim(-1), right.dim(-2)).status());
  for (const PartialShape* const diagonal : {&super, &main, &below})
    TENON_RETURN_IF_ERROR(c.WithSize(diagonal->dim(-2), 1).status());
  c.set_output(0, right);
  return absl::OkStatus();
}

// [..., N, N] -> values [..., N] and vectors [..., N, N]; [0] where vectors are not asked for.
absl::Status SelfAdjointEigShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims d, SquareDimsOf(c, 0));
  bool vectors = true;
  if (c.HasAttr("compute_v")) {
    TENON_ASSIGN_OR_RETURN(vectors, c.AttrBool("compute_v"));
  }
  return SetOutputs(c, {Concatenate(d.batch, Vector(d.rows)),
                        vectors ? Concatenate(d.batch, Matrix(d.rows, d.rows)) : Vector(0)});
}

// [..., M, N] -> s [..., P], u [..., M, P or M], v [..., N, P or N] with P = min(M, N); u and v are
// [0] where they are not asked for.
absl::Status SvdShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims d, MatrixDimsOf(c, 0));
  TENON_ASSIGN_OR_RETURN(const bool compute_uv, c.AttrBool("compute_uv"));
  TENON_ASSIGN_OR_RETURN(const bool full, c.AttrBool("full_matrices"));
  const PartialShape s = Concatenate(d.batch, Vector(d.smaller));
  if (!compute_uv) return SetOutputs(c, {s, Vector(0), Vector(0)});
  return SetOutputs(c, {s, Concatenate(d.batch, Matrix(d.rows, full ? d.rows : d.smaller)),
                        Concatenate(d.batch, Matrix(d.columns, full ? d.columns : d.smaller))});
}

absl::Status QrShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims d, MatrixDimsOf(c, 0));
  TENON_ASSIGN_OR_RETURN(const bool full, c.AttrBool("full_matrices"));
  return SetOutputs(c, {Concatenate(d.batch, Matrix(d.rows, full ? d.rows : d.smaller)),
                        Concatenate(d.batch, Matrix(full ? d.rows : d.smaller, d.columns))});
}

absl::Status LuShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const MatrixDims d, SquareDimsOf(c, 0));
  return SetOutputs(
      c, {Concatenate(d.batch, Matrix(d.rows, d.columns)), Concatenate(d.batch, Vector(d.rows))});
}

absl::Status CrossShape(InferenceContext& c) {
  for (int i : {0, 1}) TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(i), 1).status());
  TENON_ASSIGN_OR_RETURN(PartialShape s, MergeShapes(c.input(0), c.input(1)));
  if (s.known_rank()) TENON_RETURN_IF_ERROR(c.WithSize(s.dim(-1), 3).status());
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

absl::Status FftShape(InferenceContext& c) { return MergeInto(c, 1); }
absl::Status Fft2DShape(InferenceContext& c) { return MergeInto(c, 2); }
absl::Status Fft3DShape(InferenceContext& c) { return MergeInto(c, 3); }
absl::Status RfftShape(InferenceContext& c) { return RealFft(c, 1, /*forward=*/true); }
absl::Status Rfft2DShape(InferenceContext& c) { return RealFft(c, 2, /*forward=*/true); }
absl::Status Rfft3DShape(InferenceContext& c) { return RealFft(c, 3, /*forward=*/true); }
absl::Status IrfftShape(InferenceContext& c) { return RealFft(c, 1, /*forward=*/false); }
absl::Status Irfft2DShape(InferenceContext& c) { return RealFft(c, 2, /*forward=*/false); }
absl::Status Irfft3DShape(InferenceContext& c) { return RealFft(c, 3, /*forward=*/false); }

namespace {

// One operand's labels of an einsum equation: single letters, and "..." for broadcast dimensions.
struct Labels {
  std::string letters;
  int ellipsis = -1;  // index into letters before which the ellipsis stands; -1: none
};

absl::StatusOr<Labels> ParseLabels(std::string_view text) {
  Labels out;
  while (!text.empty()) {
    if (text.starts_with("...") && out.ellipsis < 0) {
      out.ellipsis = static_cast<int>(out.letters.size());
      text.remove_prefix(3);
    } else if (text.front() == '.' || text.front() == ',' || text.front() == '-') {
      return absl::InvalidArgumentError(
          absl::StrCat("unexpected '", text.substr(0, 1), "' in an einsum equation"));
    } else {
      if (text.front() != ' ') out.letters += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

// Labels of one name have one size; the dimensions of all ellipses broadcast. An operand of unknown
// rank says nothing of its labels, and leaves the dimensions of an ellipsis unknown.
absl::Status EinsumShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(std::string_view equation, c.AttrString("equation"));
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos)
    return Invalid("Expecting exactly one '->' in einsum equation: ", equation);
  std::string_view operands = equation.substr(0, arrow);
  std::map<char, int64_t> sizes;
  PartialShape broadcast = Shape();
  bool unknown_ellipsis = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const size_t comma = operands.find(',');
    // Each operand but the last has a comma behind it.
    if ((comma == std::string_view::npos) != (i == c.num_inputs() - 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("einsum equation '", equation, "' is not for ", c.num_inputs(), " inputs"));
    }
    TENON_ASSIGN_OR_RETURN(const Labels labels, ParseLabels(operands.substr(0, comma)));
    if (comma != std::string_view::npos) operands.remove_prefix(comma + 1);
    const int count = static_cast<int>(labels.letters.size());
    const PartialShape& in = c.input(i);
    if (!in.known_rank()) {
      unknown_ellipsis |= labels.ellipsis >= 0;
      for (char l : labels.letters) sizes.emplace(l, kUnknownDim);
      continue;
    }
    const absl::Status rank = labels.ellipsis < 0 ? c.WithRank(in, count).status()
                                                  : c.WithRankAtLeast(in, count).status();
    if (!rank.ok()) {
      return Annotate(rank, "", absl::StrCat("\n\t for ", i, "th input and equation: ", equation));
    }
    if (labels.ellipsis >= 0) {
      const int behind = count - labels.ellipsis;
      TENON_ASSIGN_OR_RETURN(
          broadcast, c.Broadcast(broadcast, Subshape(in, labels.ellipsis, in.rank() - behind)));
    }
    for (int k = 0; k < count; ++k) {
      const bool before = labels.ellipsis < 0 || k < labels.ellipsis;
      int64_t& size = sizes.emplace(labels.letters[k], kUnknownDim).first->second;
      TENON_ASSIGN_OR_RETURN(size, c.MergeDim(size, in.dim(before ? k : in.rank() - count + k)));
    }
  }
  TENON_ASSIGN_OR_RETURN(const Labels labels, ParseLabels(equation.substr(arrow + 2)));
  PartialShape out = Shape();
  for (int k = 0; k <= static_cast<int>(labels.letters.size()); ++k) {
    if (k == labels.ellipsis) out = Concatenate(out, unknown_ellipsis ? PartialShape() : broadcast);
    if (!out.known_rank()) return absl::OkStatus();
    if (k == static_cast<int>(labels.letters.size())) break;
    const auto size = sizes.find(labels.letters[k]);
    if (size == sizes.end()) {
      return absl::InvalidArgumentError(absl::StrCat("label '", labels.letters.substr(k, 1),
                                                     "' of the einsum output is in no input"));
    }
    out.push_back(size->second);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Bands [..., bands, size] of a triangular matrix and a right side [..., size, columns].
absl::Status BandedTriangularSolveShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape bands, c.WithRankAtLeast(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape right, c.WithRankAtLeast(c.input(1), 2));
  if (!bands.known_rank() || !right.known_rank()) return absl::OkStatus();
  const int64_t size = bands.dim(-1);
  if (bands.dim(-2) >= 0 && size >= 0 && bands.dim(-2) > size) {
    return Invalid("Number of bands ", bands.dim(-2), " cannot exceed the size of the matrix ",
                   size);
  }
  TENON_ASSIGN_OR_RETURN(const PartialShape batch,
                         c.Broadcast(Subshape(bands, 0, -2), Subshape(right, 0, -2)));
  TENON_ASSIGN_OR_RETURN(const int64_t rows, c.MergeDim(size, right.dim(-2)));
  c.set_output(0, Concatenate(batch, Matrix(rows, right.dim(-1))));
  return absl::OkStatus();
}

}  // namespace tenon::ops
