// Bands and diagonals of matrices: MatrixBandPart, Diag, DiagPart, MatrixDiag, MatrixDiagPart,
// MatrixSetDiag (first versions).
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

struct MatrixState {
  int64_t matrices = 1, rows = 0, columns = 0, bytes = 0;
  bool lower64 = true;
};

// Keeps elements with r - c <= lower and c - r <= upper; negative bounds keep all on their side.
absl::Status RunBandPart(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MatrixState*>(state);
  const int64_t lower = LoadIndex(args.in[1], s.lower64, 0);
  const int64_t upper = LoadIndex(args.in[2], s.lower64, 0);
  if (lower > s.rows || upper > s.columns) {
    return absl::InvalidArgumentError(
        absl::StrCat("the band of ", lower, " below and ", upper, " above leaves the matrix"));
  }
  const char* in = static_cast<const char*>(args.in[0]);
  char* out = static_cast<char*>(args.out[0]);
  args.workers->ParallelFor(
      s.matrices * s.rows, GrainFor(s.columns * s.bytes * 2), [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t r = line % s.rows;
          const int64_t first = lower < 0 ? 0 : std::clamp<int64_t>(r - lower, 0, s.columns);
          const int64_t last =
              upper < 0 ? s.columns : std::clamp<int64_t>(r + upper + 1, first, s.columns);
          const char* from = in + line * s.columns * s.bytes;
          char* to = out + line * s.columns * s.bytes;
          std::memset(to, 0, first * s.bytes);
          if (to != from)
            std::memcpy(to + first * s.bytes, from + first * s.bytes, (last - first) * s.bytes);
          std::memset(to + last * s.bytes, 0, (s.columns - last) * s.bytes);
        }
      });
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<MatrixState>> ReadMatrices(const Prepare& p, const Shape& shape) {
  if (shape.rank() < 2) return p.Invalid("the tensor must have at least 2 dimensions");
  if (!IsMemcpyable(p.input_type(0))) return p.Unimplemented("no CPU kernel for this type");
  auto s = std::make_shared<MatrixState>();
  s->matrices = DimProduct(shape, 0, shape.rank() - 2);
  s->rows = shape.dim(shape.rank() - 2);
  s->columns = shape.dim(shape.rank() - 1);
  s->bytes = static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  return s;
}

absl::Status PrepareBandPart(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<MatrixState> s, ReadMatrices(p, p.input_shape(0)));
  if (p.input_shape(1).rank() != 0 || p.input_shape(2).rank() != 0)
    return p.Invalid("'num_lower' and 'num_upper' must be scalars");
  s->lower64 = p.input_type(1) == DataType::kInt64;
  p.set_output_shape(0, p.input_shape(0));
  p.AllowInPlace(0, 0);
  p.set_run(&RunBandPart, std::move(s));
  return absl::OkStatus();
}

// Copies diagonals: `lines` vectors of `length` between a dense side and one with diagonal strides.
StridedCopy DiagonalCopy(DataType type, int64_t matrices, int64_t length, int64_t rows,
                         int64_t columns, bool from_matrix) {
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  StridedCopy copy(type);
  const int64_t matrix = rows * columns * bytes, diagonal = (columns + 1) * bytes;
  copy.AddDim(matrices, from_matrix ? matrix : length * bytes,
              from_matrix ? length * bytes : matrix);
  copy.AddDim(length, from_matrix ? diagonal : bytes, from_matrix ? bytes : diagonal);
  copy.Finish();
  return copy;
}

struct FillDiagonalState {
  StridedCopy copy;
  int64_t bytes = 0;  // of the result
  int diagonal = 0;   // the input that holds the diagonals
  bool zero = true;   // else the result starts as input 0
};

absl::Status RunFillDiagonal(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FillDiagonalState*>(state);
  if (s.zero) {
    std::memset(args.out[0], 0, s.bytes);
  } else if (args.out[0] != args.in[0]) {
    std::memcpy(args.out[0], args.in[0], s.bytes);
  }
  s.copy.Run(args.in[s.diagonal], args.out[0], args.workers);
  return absl::OkStatus();
}

absl::Status SetFillDiagonal(Prepare& p, const Shape& out, StridedCopy copy, int diagonal) {
  const int64_t bytes = out.num_elements() * static_cast<int64_t>(DataTypeSize(p.output_type(0)));
  p.set_output_shape(0, out);
  p.set_run(&RunFillDiagonal, std::make_shared<FillDiagonalState>(FillDiagonalState{
                                  std::move(copy), bytes, diagonal, diagonal == 0}));
  return absl::OkStatus();
}

// The tensor on the diagonal of its outer square.
absl::Status PrepareDiag(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  Dims dims(in.dims().begin(), in.dims().end());
  dims.insert(dims.end(), in.dims().begin(), in.dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  const int64_t n = in.num_elements();
  return SetFillDiagonal(p, out, DiagonalCopy(p.input_type(0), 1, n, n, n, false), 0);
}

absl::Status PrepareDiagPart(Prepare& p) {
  const Shape& in = p.input_shape(0);
  const int half = in.rank() / 2;
  if (in.rank() == 0 || in.rank() % 2 != 0) return p.Invalid("the rank must be even and positive");
  Shape out;
  for (int d = 0; d < half; ++d) {
    if (in.dim(d) != in.dim(d + half))
      return p.Invalid("the two halves of the shape must be equal");
    out.push_back(in.dim(d));
  }
  const int64_t n = out.num_elements();
  p.set_output_shape(0, out);
  std::vector<CopyPiece> pieces;
  pieces.push_back({0, 0, 0, 0, DiagonalCopy(p.input_type(0), 1, n, n, n, true)});
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

absl::Status PrepareMatrixDiag(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  if (!IsMemcpyable(p.input_type(0))) return p.Unimplemented("no CPU kernel for this type");
  const int64_t n = in.dim(in.rank() - 1);
  Dims dims(in.dims().begin(), in.dims().end());
  dims.push_back(n);
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  return SetFillDiagonal(
      p, out, DiagonalCopy(p.input_type(0), DimProduct(in, 0, in.rank() - 1), n, n, n, false), 0);
}

Shape DiagonalShape(const Shape& in) {
  Shape out;
  for (int d = 0; d < in.rank() - 2; ++d) out.push_back(in.dim(d));
  out.push_back(std::min(in.dim(in.rank() - 2), in.dim(in.rank() - 1)));
  return out;
}

absl::Status PrepareMatrixDiagPart(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<MatrixState> s, ReadMatrices(p, p.input_shape(0)));
  const Shape out = DiagonalShape(p.input_shape(0));
  p.set_output_shape(0, out);
  std::vector<CopyPiece> pieces;
  pieces.push_back({0, 0, 0, 0,
                    DiagonalCopy(p.input_type(0), s->matrices, std::min(s->rows, s->columns),
                                 s->rows, s->columns, true)});
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

absl::Status PrepareMatrixSetDiag(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<MatrixState> s, ReadMatrices(p, p.input_shape(0)));
  if (!(p.input_shape(1) == DiagonalShape(p.input_shape(0)))) {
    return p.Invalid(
        absl::StrCat("the diagonal must have shape ", DiagonalShape(p.input_shape(0)).ToString()));
  }
  p.AllowInPlace(0, 0);
  return SetFillDiagonal(p, p.input_shape(0),
                         DiagonalCopy(p.input_type(0), s->matrices, std::min(s->rows, s->columns),
                                      s->rows, s->columns, false),
                         1);
}

}  // namespace

absl::Span<const CpuKernelSpec> MatrixPartKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixBandPart", {}, PrepareBandPart},
      {"BatchMatrixBandPart", {}, PrepareBandPart},
      {"Diag", {}, PrepareDiag},
      {"DiagPart", {}, PrepareDiagPart},
      {"MatrixDiag", {}, PrepareMatrixDiag},
      {"BatchMatrixDiag", {}, PrepareMatrixDiag},
      {"MatrixDiagPart", {}, PrepareMatrixDiagPart},
      {"BatchMatrixDiagPart", {}, PrepareMatrixDiagPart},
      {"MatrixSetDiag", {}, PrepareMatrixSetDiag},
      {"BatchMatrixSetDiag", {}, PrepareMatrixSetDiag},
  };
  return specs;
}

}  // namespace tenon::cpu
