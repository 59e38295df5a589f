// dot_general, dot, and the product that it and convolutions share.
#include "product.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "checks.h"
#include "elementwise.h"
#include "families.h"
#include "strided.h"

namespace pjref {
namespace {

// Rows of `a` and columns of `b` that a block takes: its part of `b` stays in the nearest cache.
constexpr int64_t kColumns = 32;
constexpr int64_t kDepth = 128;
constexpr int64_t kRowsAtOnce = 4;

template <typename T, int64_t rows>
[[gnu::always_inline]] inline void MultiplyRows(int64_t width, int64_t depth, const T* a,
                                                int64_t a_step, const T* b, int64_t b_step, T* c,
                                                int64_t c_step) {
  T sums[rows][kColumns];
  for (int64_t r = 0; r < rows; ++r) std::copy_n(c + r * c_step, width, sums[r]);
  for (int64_t p = 0; p < depth; ++p) {
    const T* line = b + p * b_step;
    for (int64_t r = 0; r < rows; ++r) {
      const T factor = a[r * a_step + p];
      for (int64_t j = 0; j < width; ++j) sums[r][j] += factor * line[j];
    }
  }
  for (int64_t r = 0; r < rows; ++r) std::copy_n(sums[r], width, c + r * c_step);
}

template <typename T>
[[gnu::always_inline]] inline void MultiplyBlocks(int64_t m, int64_t n, int64_t k, const T* a,
                                                  const T* b, T* c) {
  T panel[kDepth * kColumns];
  for (int64_t p = 0; p < k; p += kDepth) {
    const int64_t depth = std::min(kDepth, k - p);
    for (int64_t j = 0; j < n; j += kColumns) {
      const int64_t width = std::min(kColumns, n - j);
      // The block of b lies together while all rows of a pass by.
      for (int64_t d = 0; d < depth; ++d)
        std::copy_n(b + (p + d) * n + j, width, panel + d * kColumns);
      int64_t i = 0;
      for (; width == kColumns && i + kRowsAtOnce <= m;
           i += kRowsAtOnce) {  // The width as a constant: sums stay in registers.
        MultiplyRows<T, kRowsAtOnce>(kColumns, depth, a + i * k + p, k, panel, kColumns,
                                     c + i * n + j, n);
      }
      for (; i < m; ++i)
        MultiplyRows<T, 1>(width, depth, a + i * k + p, k, panel, kColumns, c + i * n + j, n);
    }
  }
}

#if defined(__x86_64__)
// The same loops for processors with wider vectors.
[[gnu::target("avx2,fma")]] void MultiplyWide(int64_t m, int64_t n, int64_t k, const float* a,
                                              const float* b, float* c) {
  MultiplyBlocks<float>(m, n, k, a, b, c);
}
bool HasWide() {
  static const bool kHas = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return kHas;
}
#endif

}  // namespace

template <typename T>
void MultiplyAdd(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, float>) {
    if (HasWide()) return MultiplyWide(m, n, k, a, b, c);
  }
#endif
  MultiplyBlocks<T>(m, n, k, a, b, c);
}

template void MultiplyAdd<float>(int64_t, int64_t, int64_t, const float*, const float*, float*);
template void MultiplyAdd<double>(int64_t, int64_t, int64_t, const double*, const double*, double*);
template void MultiplyAdd<uint64_t>(int64_t, int64_t, int64_t, const uint64_t*, const uint64_t*,
                                    uint64_t*);
template void MultiplyAdd<std::complex<double>>(int64_t, int64_t, int64_t,
                                                const std::complex<double>*,
                                                const std::complex<double>*, std::complex<double>*);

namespace {

// Which axes of the operands are batches, sums and free.
struct DotAxes {
  Dims left_batch, right_batch, left_sum, right_sum, left_free, right_free;
};

Dims Entry(const Op& op, const char* key) {
  const Attribute* numbers = op.Find("dot_dimension_numbers");
  if (!numbers) return {};
  Op holder;
  holder.name = op.name;
  holder.place = op.place;
  holder.attributes = *numbers;
  return holder.Integers(key);
}

DotAxes DotAxesOf(const Op& op) {
  DotAxes axes;
  if (op.name == "stablehlo.dot") {  // A product of matrices and vectors.
    axes.left_sum = {op.operand_types[0].rank() - 1};
    axes.right_sum = {0};
  } else {
    axes.left_batch = Entry(op, "lhs_batching_dimensions");
    axes.right_batch = Entry(op, "rhs_batching_dimensions");
    axes.left_sum = Entry(op, "lhs_contracting_dimensions");
    axes.right_sum = Entry(op, "rhs_contracting_dimensions");
  }
  for (int64_t i = 0; i < op.operand_types[0].rank(); ++i) {
    if (!Contains(axes.left_batch, i) && !Contains(axes.left_sum, i)) axes.left_free.push_back(i);
  }
  for (int64_t i = 0; i < op.operand_types[1].rank(); ++i) {
    if (!Contains(axes.right_batch, i) && !Contains(axes.right_sum, i))
      axes.right_free.push_back(i);
  }
  return axes;
}

Dims Chained(const Dims& a, const Dims& b, const Dims& c = {}) {
  Dims all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

int64_t ElementsAlong(const Dims& dims, const Dims& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= dims[axis];
  return count;
}

void CheckDot(const Op& op) {
  CheckCounts(op, 2, 1);
  const Type& left = op.operand_types[0];
  const Type& right = op.operand_types[1];
  const Type& out = op.result_types[0];
  CheckKind(op, left, kAll);
  CheckKind(op, right, kAll);
  CheckKind(op, out, kAll);
  CheckThat(op,
            IsComplex(left.element) == IsComplex(right.element) &&
                IsFloat(left.element) == IsFloat(right.element) &&
                IsComplex(out.element) == IsComplex(left.element) &&
                (!IsFloat(left.element) || IsFloat(out.element)),
            "does not multiply '" + ToString(left) + "' and '" + ToString(right) + "' to '" +
                ToString(out) + "'");
  CheckThat(op,
            op.name != "stablehlo.dot" ||
                (left.rank() >= 1 && left.rank() <= 2 && right.rank() >= 1 && right.rank() <= 2),
            "expects operands of rank 1 or 2");
  const DotAxes axes = DotAxesOf(op);
  CheckAxes(op, "lhs dimensions", Chained(axes.left_batch, axes.left_sum), left.rank());
  CheckAxes(op, "rhs dimensions", Chained(axes.right_batch, axes.right_sum), right.rank());
  CheckSize(op, "rhs_batching_dimensions", axes.right_batch,
            static_cast<int64_t>(axes.left_batch.size()));
  CheckSize(op, "rhs_contracting_dimensions", axes.right_sum,
            static_cast<int64_t>(axes.left_sum.size()));
  const auto same = [&](const Dims& a, const Dims& b, const char* what) {
    for (size_t i = 0; i < a.size(); ++i) {
      CheckThat(op, left.dims[a[i]] == right.dims[b[i]],
                std::string(what) + " dimension sizes must match for lhs/rhs");
    }
  };
  same(axes.left_batch, axes.right_batch, "batching");
  same(axes.left_sum, axes.right_sum, "contracting");
  Dims dims;
  for (int64_t axis : axes.left_batch) dims.push_back(left.dims[axis]);
  for (int64_t axis : axes.left_free) dims.push_back(left.dims[axis]);
  for (int64_t axis : axes.right_free) dims.push_back(right.dims[axis]);
  CheckResult(op, 0, {out.element, dims});
}

template <typename T>
void MultiplyBatches(const Array& left, const Array& right, const Array& out, int64_t batches,
                     int64_t m, int64_t n, int64_t k) {
  const std::vector<T> a = LoadAll<T>(left), b = LoadAll<T>(right);
  std::vector<T> c(static_cast<size_t>(out.count()), T(0));
  for (int64_t i = 0; i < batches; ++i) {
    MultiplyAdd<T>(m, n, k, a.data() + i * m * k, b.data() + i * k * n, c.data() + i * m * n);
  }
  Store(c.data(), 0, out.count(), out);
}

void Dot(Frame* frame, const Op& op) {
  const DotAxes axes = DotAxesOf(op);
  const Array left =
      Transposed(frame->In(op, 0), Chained(axes.left_batch, axes.left_free, axes.left_sum));
  const Array right =
      Transposed(frame->In(op, 1), Chained(axes.right_batch, axes.right_sum, axes.right_free));
  Array out(op.result_types[0]);
  const Dims& in = op.operand_types[0].dims;
  const int64_t batches = ElementsAlong(in, axes.left_batch), m = ElementsAlong(in, axes.left_free),
                k = ElementsAlong(in, axes.left_sum),
                n = ElementsAlong(op.operand_types[1].dims, axes.right_free);
  const auto is = [&](Element element) {
    return left.element() == element || right.element() == element || out.element() == element;
  };
  if (IsComplex(out.element())) {
    MultiplyBatches<std::complex<double>>(left, right, out, batches, m, n, k);
  } else if (is(Element::kF64)) {
    MultiplyBatches<double>(left, right, out, batches, m, n, k);
  } else if (IsFloat(left.element())) {
    MultiplyBatches<float>(left, right, out, batches, m, n, k);
  } else if (IsFloat(out.element())) {
    MultiplyBatches<double>(left, right, out, batches, m, n, k);
  } else {
    MultiplyBatches<uint64_t>(left, right, out, batches, m, n, k);
  }
  frame->Out(op, std::move(out));
}

}  // namespace

const std::vector<OpRow>& ProductRows() {
  static const std::vector<OpRow> kRowsAtOnce = {
      {"stablehlo.dot_general", &CheckDot, &Dot, nullptr},
      {"stablehlo.dot", &CheckDot, &Dot, nullptr},
  };
  return kRowsAtOnce;
}

}  // namespace pjref
