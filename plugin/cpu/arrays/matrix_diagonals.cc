// Diagonals of matrices, taken, put and set: MatrixDiagPart, MatrixDiag and MatrixSetDiag, all
// versions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Diagonals `lower` to `upper`, 0 being the main one and positive ones above it. Packed, they are
// the rows of a matrix, the uppermost first, each at the left or the right end of its row.
struct DiagonalBand {
  int64_t lower = 0, upper = 0;
  bool left_above = true, left_below = true;

  int64_t count() const { return upper - lower + 1; }
  bool left(int64_t diagonal) const {
    return (diagonal >= 0 && left_above) || (diagonal <= 0 && left_below);
  }
};

// Matrices, and the length of the longest diagonal of the band.
struct Matrices {
  int64_t count = 1, rows = 0, columns = 0, longest = 0;

  int64_t length(int64_t diagonal) const {
    return std::min(rows + std::min<int64_t>(diagonal, 0),
                    columns - std::max<int64_t>(diagonal, 0));
  }
};

// `k_input` holds one diagonal or the lowest and the highest; -1: the main diagonal.
absl::StatusOr<DiagonalBand> ReadBand(const Prepare& p, int k_input) {
  DiagonalBand band;
  if (k_input < 0) return band;
  TENON_ASSIGN_OR_RETURN(const Dims k, p.InputInts(k_input));
  if (k.empty() || k.size() > 2) return p.Invalid("'k' must have one or two elements");
  band.lower = k.front();
  band.upper = k.back();
  if (band.lower > band.upper) {
    return p.Invalid(
        absl::StrCat("the lowest diagonal, ", band.lower, ", is above the highest, ", band.upper));
  }
  if (p.op().name.ends_with("V3")) {
    TENON_ASSIGN_OR_RETURN(const std::string_view align, p.AttrString("align"));
    band.left_above = align.starts_with("LEFT");
    band.left_below = align.ends_with("LEFT");
  }
  return band;
}

absl::StatusOr<Matrices> ReadMatrices(const Prepare& p, const Shape& shape,
                                      const DiagonalBand& band) {
  if (shape.rank() < 2) return p.Invalid("the tensor must have at least 2 dimensions");
  Matrices m;
  m.count = DimProduct(shape, 0, shape.rank() - 2);
  m.rows = shape.dim(shape.rank() - 2);
  m.columns = shape.dim(shape.rank() - 1);
  for (int64_t k : {band.lower, band.upper}) {
    if (k != 0 && (k <= -m.rows || k >= m.columns)) {
      return p.Invalid(
          absl::StrCat("there is no diagonal ", k, " in a matrix of ", m.rows, " x ", m.columns));
    }
  }
  m.longest = std::min(m.length(std::min<int64_t>(band.upper, 0)),
                       m.length(std::max<int64_t>(band.lower, 0)));
  return m;
}

// The shape of the band, packed, of matrices of this shape.
Shape PackedShape(const Shape& matrices, const DiagonalBand& band, const Matrices& m) {
  Shape out(matrices.dims().first(matrices.rank() - 2));
  if (band.count() > 1) out.push_back(band.count());
  out.push_back(m.longest);
  return out;
}

// One copy per diagonal between matrices and the packed band.
void AddDiagonals(const DiagonalBand& band, const Matrices& m, DataType type, int in,
                  bool from_matrix, std::vector<CopyPiece>* pieces) {
  if (m.count * m.longest == 0) return;
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const int64_t matrix = m.rows * m.columns * bytes, packed = band.count() * m.longest * bytes;
  for (int64_t k = band.lower; k <= band.upper; ++k) {
    const int64_t length = m.length(k);
    if (length <= 0) continue;
    const int64_t start = (std::max<int64_t>(-k, 0) * m.columns + std::max<int64_t>(k, 0)) * bytes;
    const int64_t place =
        ((band.upper - k) * m.longest + (band.left(k) ? 0 : m.longest - length)) * bytes;
    const int64_t diagonal = (m.columns + 1) * bytes;
    CopyPiece piece{in, 0, from_matrix ? start : place, from_matrix ? place : start,
                    StridedCopy(type)};
    piece.copy.AddDim(m.count, from_matrix ? matrix : packed, from_matrix ? packed : matrix);
    piece.copy.AddDim(length, from_matrix ? diagonal : bytes, from_matrix ? bytes : diagonal);
    piece.copy.Finish();
    pieces->push_back(std::move(piece));
  }
}

absl::Status SetDiagPart(Prepare& p, int k_input, int padding_input) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const DiagonalBand band, ReadBand(p, k_input));
  TENON_ASSIGN_OR_RETURN(const Matrices m, ReadMatrices(p, in, band));
  if (padding_input >= 0 && p.input_shape(padding_input).num_elements() != 1)
    return p.Invalid("'padding_value' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, PackedShape(in, band, m).dims()));
  std::vector<CopyPiece> pieces;
  if (band.count() > 1)
    pieces.push_back(RepeatPiece(p.input_type(0), out.num_elements(), padding_input));
  AddDiagonals(band, m, p.input_type(0), 0, true, &pieces);
  p.set_output_shape(0, out);
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}
absl::Status PrepareMatrixDiagPart(Prepare& p) { return SetDiagPart(p, -1, kZeros); }
absl::Status PrepareDiagPartV2(Prepare& p) { return SetDiagPart(p, 1, 2); }

// Rows and columns, of which -1 leaves the choice to us: the least that hold the band, square if
// both are free.
absl::Status ReadSizes(const Prepare& p, const DiagonalBand& band, Matrices* m) {
  const int64_t least_rows = m->longest - std::min<int64_t>(band.upper, 0);
  const int64_t least_columns = m->longest + std::max<int64_t>(band.lower, 0);
  int64_t rows = -1, columns = -1;
  if (p.num_inputs() > 1) {
    for (int i : {2, 3, 4}) {
      if (p.input_shape(i).rank() != 0)
        return p.Invalid("'num_rows', 'num_cols' and 'padding_value' must be scalars");
    }
    TENON_ASSIGN_OR_RETURN(rows, InputInt(p, 2));
    TENON_ASSIGN_OR_RETURN(columns, InputInt(p, 3));
  }
  const int64_t square = std::max(least_rows, least_columns);
  m->rows = rows != -1 ? rows : columns == -1 ? square : least_rows;
  m->columns = columns != -1 ? columns : rows == -1 ? square : least_columns;
  if (m->rows < least_rows || m->columns < least_columns ||
      (m->rows != least_rows && m->columns != least_columns)) {
    return p.Invalid(absl::StrCat("diagonals of ", m->longest, " elements need ", least_rows,
                                  " rows and ", least_columns, " columns or more of one, not ",
                                  m->rows, " x ", m->columns));
  }
  return absl::OkStatus();
}

absl::Status SetDiag(Prepare& p, int k_input, int padding_input) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const DiagonalBand band, ReadBand(p, k_input));
  const int packed_rank = band.count() > 1 ? 2 : 1;
  if (in.rank() < packed_rank)
    return p.Invalid(absl::StrCat("the diagonals must have at least ", packed_rank, " dimensions"));
  const int batch_rank = in.rank() - packed_rank;
  if (packed_rank == 2 && in.dim(batch_rank) != band.count()) {
    return p.Invalid(
        absl::StrCat("'k' names ", band.count(), " diagonals, given are ", in.dim(batch_rank)));
  }
  Matrices m;
  m.count = DimProduct(in, 0, batch_rank);
  m.longest = in.dim(in.rank() - 1);
  TENON_RETURN_IF_ERROR(ReadSizes(p, band, &m));
  Dims dims(in.dims().begin(), in.dims().begin() + batch_rank);
  dims.push_back(m.rows);
  dims.push_back(m.columns);
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  std::vector<CopyPiece> pieces;
  pieces.push_back(RepeatPiece(p.input_type(0), out.num_elements(), padding_input));
  AddDiagonals(band, m, p.input_type(0), 0, false, &pieces);
  p.set_output_shape(0, out);
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}
absl::Status PrepareMatrixDiag(Prepare& p) { return SetDiag(p, -1, kZeros); }
absl::Status PrepareDiagV2(Prepare& p) { return SetDiag(p, 1, 4); }

absl::Status SetSetDiag(Prepare& p, int k_input) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const DiagonalBand band, ReadBand(p, k_input));
  TENON_ASSIGN_OR_RETURN(const Matrices m, ReadMatrices(p, in, band));
  const Shape packed = PackedShape(in, band, m);
  if (!(p.input_shape(1) == packed))
    return p.Invalid(absl::StrCat("the diagonals must have shape ", packed.ToString()));
  std::vector<CopyPiece> pieces;
  pieces.push_back(WholePiece(p.input_type(0), in.num_elements(), 0));
  AddDiagonals(band, m, p.input_type(0), 1, false, &pieces);
  p.set_output_shape(0, in);
  p.AllowInPlace(0, 0);
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}
absl::Status PrepareSetDiag(Prepare& p) { return SetSetDiag(p, -1); }
absl::Status PrepareSetDiagV2(Prepare& p) { return SetSetDiag(p, 2); }

}  // namespace

absl::Span<const CpuKernelSpec> MatrixDiagonalKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixDiagPart", {{"T", kCopyTypes}}, PrepareMatrixDiagPart},
      {"BatchMatrixDiagPart", {{"T", kCopyTypes}}, PrepareMatrixDiagPart},
      {"MatrixDiagPartV2", {{"T", kCopyTypes}}, PrepareDiagPartV2, 0b10},
      {"MatrixDiagPartV3", {{"T", kCopyTypes}}, PrepareDiagPartV2, 0b10},
      {"MatrixDiag", {{"T", kCopyTypes}}, PrepareMatrixDiag},
      {"BatchMatrixDiag", {{"T", kCopyTypes}}, PrepareMatrixDiag},
      {"MatrixDiagV2", {{"T", kCopyTypes}}, PrepareDiagV2, 0b1110},
      {"MatrixDiagV3", {{"T", kCopyTypes}}, PrepareDiagV2, 0b1110},
      {"MatrixSetDiag", {{"T", kCopyTypes}}, PrepareSetDiag},
      {"BatchMatrixSetDiag", {{"T", kCopyTypes}}, PrepareSetDiag},
      {"MatrixSetDiagV2", {{"T", kCopyTypes}}, PrepareSetDiagV2, 0b100},
      {"MatrixSetDiagV3", {{"T", kCopyTypes}}, PrepareSetDiagV2, 0b100},
  };
  return specs;
}

}  // namespace tenon::cpu
