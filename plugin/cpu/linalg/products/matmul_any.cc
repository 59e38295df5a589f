// Matrix products of any type by plain loops: operands are widened to one of five accumulator types
// first.
#include <complex>
#include <cstring>
#include <type_traits>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/products/matmul.h"

namespace tenon::cpu {
namespace {

// Integers wrap around, which unsigned arithmetic does in any width.
template <typename T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

struct AnyMatMul {
  MatMulProblem q;
  DataType a_type, b_type, out_type;
  size_t accumulator_bytes = 0;
  int64_t rows_per_tile = 0;
};

// rows x columns of `matrix` (stored transposed where it says so), row after row, as accumulators.
template <typename A>
void Widen(const void* matrix, DataType type, bool transposed, bool conjugate, int64_t rows,
           int64_t columns, A* to) {
  VisitElement(type, [&](auto load) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const A x = load.template As<A>(matrix, transposed ? c * rows + r : r * columns + c);
        *to++ = conjugate ? Conjugate(x) : x;
      }
    }
  });
}

// A product that is not the C99 one: no check for NaN, so that it can be vectorised.
template <typename A>
A Multiply(A x, A y) {
  if constexpr (kIsComplex<A>) {
    return A(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  } else {
    return x * y;
  }
}

// One row of the output: sum = a[k] * b[k, n].
template <typename A>
void MultiplyRow(const A* a, const A* b, int64_t n, int64_t k, A* __restrict sum) {
  for (int64_t j = 0; j < n; ++j) sum[j] = A();
  for (int64_t p = 0; p < k; ++p, b += n) {
    const A x = a[p];
    for (int64_t j = 0; j < n; ++j) sum[j] += Multiply(x, b[j]);
  }
}

template <typename A>
void Finish(const AnyMatMul& s, const StepArgs& args, int64_t at, A* row) {
  const MatMulProblem& q = s.q;
  if constexpr (std::is_floating_point_v<A>) {
    const auto arg = [&](int i, int64_t element) {
      A x = 0;
      VisitElement(s.out_type, [&](auto load) { x = load.template As<A>(args.in[i], element); });
      return x;
    };
    for (int64_t j = 0; j < q.n && !q.fused.empty(); ++j) {
      A x = row[j];
      if (q.fused.bias >= 0) x += arg(q.fused.bias, j);
      if (q.fused.add >= 0) x += arg(q.fused.add, at + j);
      row[j] = static_cast<A>(Activate(q.fused.activation, q.fused.alpha, x));
    }
  }
  VisitElement(s.out_type, [&](auto store) {
    for (int64_t j = 0; j < q.n; ++j) store.Put(args.out[0], at + j, row[j]);
  });
}

// Matrix after matrix: the right side is widened once, rows are split over the workers.
template <typename A>
absl::Status RunAs(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyMatMul*>(state);
  const MatMulProblem& q = s.q;
  // Scratch: both operands and the sums of one matrix, as accumulators.
  A* const a = static_cast<A*>(args.scratch);
  A* const b = a + q.m * q.k;
  A* const sums = b + q.k * q.n;
  const auto matrix = [](const void* base, DataType type, int64_t element) {
    return static_cast<const char*>(base) + element * DataTypeSize(type);
  };
  for (int64_t i = 0; i < q.batch(); ++i) {
    // A broadcast operand repeats its matrices: the last one widened may serve again.
    if (i == 0 || q.a_batch[i] != q.a_batch[i - 1]) {
      Widen(matrix(args.in[0], s.a_type, q.a_batch[i] * q.m * q.k), s.a_type, q.transpose_a,
            q.conjugate_a, q.m, q.k, a);
    }
    if (i == 0 || q.b_batch[i] != q.b_batch[i - 1]) {
      Widen(matrix(args.in[1], s.b_type, q.b_batch[i] * q.k * q.n), s.b_type, q.transpose_b,
            q.conjugate_b, q.k, q.n, b);
    }
    args.workers->ParallelFor(q.m, s.rows_per_tile, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        A* const sum = sums + r * q.n;
        MultiplyRow(a + r * q.k, b, q.n, q.k, sum);
        Finish(s, args, (i * q.m + r) * q.n, sum);
      }
      // In the thread that made these rows, while they are in its cache.
      if (q.scale_add) q.scale_add->Run(args, (i * q.m + begin) * q.n, (i * q.m + end) * q.n);
    });
  }
  return absl::OkStatus();
}

struct Choice {
  RunFn run;
  size_t bytes;
};

Choice ChooseAccumulator(DataType out) {
  switch (out) {
    case DataType::kDouble:
      return {&RunAs<double>, sizeof(double)};
    case DataType::kFloat:
    case DataType::kHalf:
    case DataType::kBfloat16:
      return {&RunAs<float>, sizeof(float)};
    case DataType::kComplex64:
      return {&RunAs<std::complex<float>>, sizeof(std::complex<float>)};
    case DataType::kComplex128:
      return {&RunAs<std::complex<double>>, sizeof(std::complex<double>)};
    // Integers.
    default:
      return {&RunAs<uint64_t>, sizeof(uint64_t)};
  }
}

}  // namespace

absl::Status PrepareAnyMatMul(Prepare& p, const MatMulProblem& problem) {
  auto s = std::make_shared<AnyMatMul>();
  s->q = problem;
  s->a_type = p.input_type(0);
  s->b_type = p.input_type(1);
  s->out_type = p.output_type(0);
  const Choice choice = ChooseAccumulator(s->out_type);
  const double elements =
      1.0 * problem.m * problem.k + 1.0 * problem.k * problem.n + 1.0 * problem.m * problem.n;
  // In double, which cannot overflow as the size below could.
  if (elements * choice.bytes > 1e15)
    return absl::ResourceExhaustedError("the matrices are too large to be widened");
  s->rows_per_tile = GrainFor(problem.n * problem.k);
  p.set_scratch_bytes(static_cast<size_t>(elements) * choice.bytes);
  p.set_run(choice.run, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
