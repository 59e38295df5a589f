#include "plugin/cpu/sparse/csr_products_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

absl::Status DoNotFit(const Shape& a, const Shape& b) {
  return absl::InvalidArgumentError(absl::StrCat("matrices of shapes ", a.ToString(), " and ",
                                                 b.ToString(), " cannot be multiplied"));
}

// The factor as it is multiplied: `held` keeps it if it had to be transposed.
absl::StatusOr<const CsrMatrix*> Turned(const CsrMatrix* matrix, const CsrFactor& factor,
                                        ObjectRef<CsrMatrix>* held) {
  if (!factor.transpose) return matrix;
  TENON_ASSIGN_OR_RETURN(*held, Transposed(*matrix, factor.conjugate));
  return held->get();
}

// sum[j * sum_step] += a * b[j * b_step]
template <typename T>
void AddScaled(T a, const T* b, int64_t b_step, bool conjugate, T* sum, int64_t sum_step,
               int64_t n) {
  if (b_step == 1 && sum_step == 1 && !conjugate) {
    for (int64_t j = 0; j < n; ++j) sum[j] += a * b[j];
    return;
  }
  for (int64_t j = 0; j < n; ++j)
    sum[j * sum_step] += a * (conjugate ? Conjugate(b[j * b_step]) : b[j * b_step]);
}

// Rows of all matrices of the batch, one after the other; each is one thread's, and its terms are
// added in the order of the entries: the bits do not depend on the number of threads.
template <typename T>
void MultiplyDense(const DenseProduct& s, const CsrMatrix& a, const Tensor& b, int64_t n, T* out,
                   Workers* workers) {
  const int64_t rows = a.rows(), inner = a.columns();
  const int64_t out_row = s.transpose_output ? 1 : n, out_step = s.transpose_output ? rows : 1;
  const int64_t b_row = s.b.transpose ? 1 : n, b_step = s.b.transpose ? inner : 1;
  if (a.batch() * rows * n == 0) return;
  const int64_t entries = std::max<int64_t>(a.entries() / (a.batch() * rows), 1);
  const int64_t grain = GrainFor(entries * n * static_cast<int64_t>(sizeof(T)));
  workers->ParallelFor(a.batch() * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / rows, r = i % rows;
      const CsrView<T> from(a, matrix);
      const T* const factor = b.flat<T>() + matrix * inner * n;
      T* const sum = out + matrix * rows * n + r * out_row;
      for (int64_t j = 0; j < n; ++j) sum[j * out_step] = T();
      for (int64_t k = from.row_starts[r]; k < from.row_starts[r + 1]; ++k) {
        AddScaled(from.values[k], factor + from.entry_columns[k] * b_row, b_step, s.b.conjugate,
                  sum, out_step, n);
      }
      if (!s.conjugate_output) continue;
      for (int64_t j = 0; j < n; ++j) sum[j * out_step] = Conjugate(sum[j * out_step]);
    }
  });
}

// Gustavson's method, row by row: all terms of row r of the product, sorted by column; the sort is
// stable, so the terms of one place are added in their order. A sum that is 0 stays an entry.
template <typename T>
void PutRow(const CsrView<T>& a, const CsrView<T>& b, int64_t r,
            std::vector<std::pair<int32_t, T>>* terms, CsrBuilder<T>* product) {
  terms->clear();
  for (int64_t k = a.row_starts[r]; k < a.row_starts[r + 1]; ++k) {
    const int64_t row = a.entry_columns[k];
    for (int64_t j = b.row_starts[row]; j < b.row_starts[row + 1]; ++j)
      terms->emplace_back(b.entry_columns[j], a.values[k] * b.values[j]);
  }
  std::stable_sort(terms->begin(), terms->end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (size_t i = 0; i < terms->size();) {
    const int32_t column = (*terms)[i].first;
    T sum = (*terms)[i].second;
    while (++i < terms->size() && (*terms)[i].first == column) sum += (*terms)[i].second;
    product->Put(column, sum);
  }
  product->EndRow();
}

}  // namespace

absl::Status RunDenseProduct(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const DenseProduct*>(state);
  const Tensor b = args.run_state->Input(1);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* given, CsrInput(args, 0, b.dtype()));
  ObjectRef<CsrMatrix> held;
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* a, Turned(given, s.a, &held));
  const int rank = a->shape.rank();
  if (b.shape().rank() != rank || (rank == 3 && b.shape().dim(0) != a->batch()) ||
      b.shape().dim(rank - (s.b.transpose ? 1 : 2)) != a->columns()) {
    return DoNotFit(given->shape, b.shape());
  }
  const int64_t n = b.shape().dim(rank - (s.b.transpose ? 2 : 1));
  Dims dims(b.shape().dims().begin(), b.shape().dims().end());
  dims[rank - 2] = s.transpose_output ? n : a->rows();
  dims[rank - 1] = s.transpose_output ? a->rows() : n;
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  VisitMatrixType(b.dtype(), [&](auto zero) {
    MultiplyDense(s, *a, b, n, static_cast<decltype(zero)*>(out), args.workers);
  });
  return absl::OkStatus();
}

absl::Status RunSparseProduct(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SparseProduct*>(state);
  ObjectRef<CsrMatrix> held[2];
  const CsrMatrix* factors[2];
  for (int i = 0; i < 2; ++i) {
    TENON_ASSIGN_OR_RETURN(const CsrMatrix* given, CsrInput(args, i, s.type));
    TENON_ASSIGN_OR_RETURN(factors[i], Turned(given, i == 0 ? s.a : s.b, &held[i]));
  }
  const CsrMatrix &a = *factors[0], &b = *factors[1];
  if (a.shape.rank() != b.shape.rank() || a.batch() != b.batch() || a.columns() != b.rows())
    return DoNotFit(a.shape, b.shape);
  Shape shape = a.shape;
  shape.set_dim(shape.rank() - 1, b.columns());
  TENON_RETURN_IF_ERROR(Shape::Make(shape.dims()).status());
  absl::StatusOr<ObjectRef<CsrMatrix>> made;
  VisitMatrixType(s.type, [&](auto zero) {
    using T = decltype(zero);
    CsrBuilder<T> product;
    std::vector<std::pair<int32_t, T>> terms;
    for (int64_t matrix = 0; matrix < a.batch(); ++matrix) {
      const CsrView<T> left(a, matrix), right(b, matrix);
      for (int64_t r = 0; r < left.rows; ++r) PutRow(left, right, r, &terms, &product);
    }
    made = product.Finish(s.type, shape);
  });
  TENON_RETURN_IF_ERROR(made.status());
  return SetCsrOutput(args, 0, *std::move(made));
}

}  // namespace tenon::cpu
