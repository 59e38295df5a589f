// Bands of matrices and diagonals of tensors: MatrixBandPart, Diag, DiagPart.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

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

absl::Status PrepareBandPart(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 2) return p.Invalid("the tensor must have at least 2 dimensions");
  if (!IsMemcpyable(p.input_type(0))) return p.Unimplemented("no CPU kernel for this type");
  if (p.input_shape(1).rank() != 0 || p.input_shape(2).rank() != 0)
    return p.Invalid("'num_lower' and 'num_upper' must be scalars");
  auto s = std::make_shared<MatrixState>();
  s->matrices = DimProduct(in, 0, in.rank() - 2);
  s->rows = in.dim(in.rank() - 2);
  s->columns = in.dim(in.rank() - 1);
  s->bytes = static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  s->lower64 = p.input_type(1) == DataType::kInt64;
  p.set_output_shape(0, in);
  p.AllowInPlace(0, 0);
  p.set_run(&RunBandPart, std::move(s));
  return absl::OkStatus();
}

// `count` elements between a dense vector and the diagonal of a square matrix of as many rows.
absl::Status SetDiagonalCopy(Prepare& p, const Shape& out, int64_t count, bool from_matrix) {
  const DataType type = p.input_type(0);
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const int64_t diagonal = (count + 1) * bytes;
  CopyPiece piece{0, 0, 0, 0, StridedCopy(type)};
  piece.copy.AddDim(count, from_matrix ? diagonal : bytes, from_matrix ? bytes : diagonal);
  piece.copy.Finish();
  std::vector<CopyPiece> pieces;
  if (!from_matrix) pieces.push_back(RepeatPiece(type, out.num_elements()));
  pieces.push_back(std::move(piece));
  p.set_output_shape(0, out);
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

// The tensor on the diagonal of its outer square.
absl::Status PrepareDiag(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  Dims dims(in.dims().begin(), in.dims().end());
  dims.insert(dims.end(), in.dims().begin(), in.dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  return SetDiagonalCopy(p, out, in.num_elements(), false);
}

absl::Status PrepareDiagPart(Prepare& p) {
  const Shape& in = p.input_shape(0);
  const int half = in.rank() / 2;
  if (in.rank() % 2 != 0) return p.Invalid("the rank must be even");
  Shape out;
  for (int d = 0; d < half; ++d) {
    if (in.dim(d) != in.dim(d + half))
      return p.Invalid("the two halves of the shape must be equal");
    out.push_back(in.dim(d));
  }
  return SetDiagonalCopy(p, out, out.num_elements(), true);
}

}  // namespace

absl::Span<const CpuKernelSpec> MatrixPartKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixBandPart", {{"T", kEveryType}}, PrepareBandPart},
      {"BatchMatrixBandPart", {{"T", kEveryType}}, PrepareBandPart},
      {"Diag", {{"T", kEveryType}}, PrepareDiag},
      {"DiagPart", {{"T", kEveryType}}, PrepareDiagPart},
  };
  return specs;
}

}  // namespace tenon::cpu
