// A sparse matrix times a dense one: SparseTensorDenseMatMul.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct MatMulState {
  int64_t count = 0;                // entries of a
  int64_t m = 0, k = 0, n = 0;      // [m, k] x [k, n]
  int64_t b_row = 0, b_column = 0;  // strides of b in elements
  bool adjoint_a = false, adjoint_b = false;
  DataType index_type;
};

// A bfloat16 that rounds each product and each sum, as TensorFlow does here: where terms cancel, a
// wider sum would differ by more than the last place.
struct RoundedBfloat16 {
  uint16_t bits = 0;

  static RoundedBfloat16 Of(float x) { return {Bfloat16FromFloat(x)}; }
  friend RoundedBfloat16 operator*(RoundedBfloat16 a, RoundedBfloat16 b) {
    return Of(FloatFromBfloat16(a.bits) * FloatFromBfloat16(b.bits));
  }
  void operator+=(RoundedBfloat16 x) {
    *this = Of(FloatFromBfloat16(bits) + FloatFromBfloat16(x.bits));
  }
};

absl::Status CheckEntries(const MatMulState& s, const void* indices) {
  for (int64_t e = 0; e < s.count; ++e) {
    const int64_t row = LoadIndex(indices, s.index_type, 2 * e);
    const int64_t column = LoadIndex(indices, s.index_type, 2 * e + 1);
    const int64_t rows = s.adjoint_a ? s.k : s.m, columns = s.adjoint_a ? s.m : s.k;
    if (row < 0 || row >= rows || column < 0 || column >= columns) {
      return absl::InvalidArgumentError(absl::StrCat("a_indices[", e, "] = [", row, ",", column,
                                                     "] lies outside of [", rows, ",", columns,
                                                     "]"));
    }
  }
  return absl::OkStatus();
}

// Columns [begin, end) of the product, entry after entry, in `sums` [m, n].
template <typename A, typename Element>
void MultiplyColumns(const MatMulState& s, Element element, const StepArgs& args, A* sums,
                     int64_t begin, int64_t end) {
  for (int64_t row = 0; row < s.m; ++row)
    std::fill(sums + row * s.n + begin, sums + row * s.n + end, A());
  for (int64_t e = 0; e < s.count; ++e) {
    const int64_t row = LoadIndex(args.in[0], s.index_type, 2 * e + (s.adjoint_a ? 1 : 0));
    const int64_t inner = LoadIndex(args.in[0], s.index_type, 2 * e + (s.adjoint_a ? 0 : 1));
    A a = element.template As<A>(args.in[1], e);
    if (s.adjoint_a) a = Conjugate(a);
    A* const sum = sums + row * s.n;
    for (int64_t j = begin; j < end; ++j) {
      const A b = element.template As<A>(args.in[3], inner * s.b_row + j * s.b_column);
      sum[j] += a * (s.adjoint_b ? Conjugate(b) : b);
    }
  }
}

// Sums in A: in the output itself where it has that type, else in scratch memory.
template <typename A, typename Element>
absl::Status RunMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MatMulState*>(state);
  constexpr bool kDirect = std::is_same_v<Element, PlainElement<A>>;
  const Element element;
  TENON_RETURN_IF_ERROR(CheckEntries(s, args.in[0]));
  if (s.n == 0) return absl::OkStatus();
  A* const sums = static_cast<A*>(kDirect ? args.out[0] : args.scratch);
  const int64_t grain = GrainFor((s.m + s.count) * static_cast<int64_t>(sizeof(A)));
  args.workers->ParallelFor(s.n, grain, [&](int64_t begin, int64_t end) {
    MultiplyColumns(s, element, args, sums, begin, end);
  });
  if constexpr (!kDirect) {
    for (int64_t i = 0; i < s.m * s.n; ++i) element.Put(args.out[0], i, sums[i]);
  }
  return absl::OkStatus();
}

RunFn FindMatMul(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return RunMatMul<float, PlainElement<float>>;
    case DataType::kDouble:
      return RunMatMul<double, PlainElement<double>>;
    case DataType::kInt32:  // wraps around
      return RunMatMul<uint32_t, PlainElement<uint32_t>>;
    case DataType::kComplex64:
      return RunMatMul<std::complex<float>, PlainElement<std::complex<float>>>;
    case DataType::kComplex128:
      return RunMatMul<std::complex<double>, PlainElement<std::complex<double>>>;
    case DataType::kHalf:
      return RunMatMul<float, HalfElement>;
    case DataType::kBfloat16:
      return RunMatMul<RoundedBfloat16, PlainElement<RoundedBfloat16>>;
    default:
      return nullptr;
  }
}

absl::Status PrepareMatMul(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 0, 1, 2));
  TENON_ASSIGN_OR_RETURN(const Dims a, p.InputInts(2));
  const Shape& b = p.input_shape(3);
  if (sizes.rank != 2 || b.rank() != 2) return p.Invalid("both operands must be matrices");
  auto s = std::make_shared<MatMulState>();
  TENON_ASSIGN_OR_RETURN(s->adjoint_a, p.AttrBool("adjoint_a"));
  TENON_ASSIGN_OR_RETURN(s->adjoint_b, p.AttrBool("adjoint_b"));
  s->count = sizes.count;
  s->m = a[s->adjoint_a ? 1 : 0];
  s->k = a[s->adjoint_a ? 0 : 1];
  s->n = b.dim(s->adjoint_b ? 0 : 1);
  s->b_row = s->adjoint_b ? 1 : b.dim(1);
  s->b_column = s->adjoint_b ? b.dim(1) : 1;
  s->index_type = p.input_type(0);
  if (s->k != b.dim(s->adjoint_b ? 1 : 0)) {
    return p.Invalid(
        absl::StrCat("the inner dimensions differ: ", s->k, " and ", b.dim(s->adjoint_b ? 1 : 0)));
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {s->m, s->n}));
  const RunFn run = FindMatMul(p.input_type(1));
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_output_shape(0, out);
  if (p.input_type(1) == DataType::kHalf) {
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(DataType::kFloat, out));
    p.set_scratch_bytes(bytes);
  }
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseMatMulKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseTensorDenseMatMul", {{"T", kEveryType}}, PrepareMatMul, 0b100},
  };
  return specs;
}

}  // namespace tenon::cpu
