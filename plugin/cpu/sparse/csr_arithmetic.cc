// Sparse matrices element by element: SparseMatrixZeros, SparseMatrixAdd, SparseMatrixMul,
// SparseMatrixSoftmax and its gradient.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct TypeState : NodeFacts {
  explicit TypeState(const Prepare& p)
      : NodeFacts(p), type(p.AttrType("type").value_or(DataType::kInvalid)) {}
  DataType type;
};

absl::Status RunZeros(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TypeState*>(state);
  const Tensor dims = args.run_state->Input(0);
  if (dims.shape().rank() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'dense_shape' must be a vector, its shape is ", dims.shape().ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape,
                         Shape::Make(absl::MakeSpan(dims.flat<int64_t>(), dims.num_elements())));
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> zeros, CsrMatrix::Make(s.type, shape, 0));
  return SetCsrOutput(args, 0, std::move(zeros));
}

// Their rows can be gone through together.
absl::Status CheckPair(const CsrMatrix& a, const CsrMatrix& b) {
  for (const CsrMatrix* m : {&a, &b}) {
    for (int64_t k = 0; k < m->batch(); ++k) {
      const int32_t* const starts = m->row_starts.flat<int32_t>() + k * (m->rows() + 1);
      const int32_t* const columns = m->entry_columns.flat<int32_t>() + m->first(k);
      for (int64_t r = 0; r < m->rows(); ++r) {
        if (std::is_sorted(columns + starts[r], columns + starts[r + 1], std::less_equal<>()))
          continue;
        return absl::InvalidArgumentError(
            absl::StrCat("the columns of row ", r, " of a sparse matrix do not increase"));
      }
    }
  }
  if (a.shape == b.shape) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the matrices must have the same shape, not ",
                                                 a.shape.ToString(), " and ", b.shape.ToString()));
}

// Calls each(i, j) for the columns of row r that either matrix has, with its entries or -1.
template <typename T, typename F>
void ForEachColumn(const CsrView<T>& a, const CsrView<T>& b, int64_t r, F&& each) {
  int64_t i = a.row_starts[r], j = b.row_starts[r];
  const int64_t a_end = a.row_starts[r + 1], b_end = b.row_starts[r + 1];
  while (i < a_end || j < b_end) {
    const int32_t a_column = i < a_end ? a.entry_columns[i] : INT32_MAX;
    const int32_t b_column = j < b_end ? b.entry_columns[j] : INT32_MAX;
    each(a_column <= b_column ? i++ : -1, b_column <= a_column ? j++ : -1);
  }
}

// alpha * a + beta * b, at the places of both.
absl::Status RunCsrAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  const DataType type = s.inputs[2];
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* a, CsrInput(args, 0, type));
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* b, CsrInput(args, 1, type));
  TENON_RETURN_IF_ERROR(CheckPair(*a, *b));
  const Tensor alpha = args.run_state->Input(2), beta = args.run_state->Input(3);
  if (alpha.shape().rank() != 0 || beta.shape().rank() != 0)
    return absl::InvalidArgumentError("'alpha' and 'beta' must be scalars");
  absl::StatusOr<ObjectRef<CsrMatrix>> made;
  VisitMatrixType(type, [&](auto zero) {
    using T = decltype(zero);
    CsrBuilder<T> sum;
    for (int64_t m = 0; m < a->batch(); ++m) {
      const CsrView<T> x(*a, m), y(*b, m);
      for (int64_t r = 0; r < x.rows; ++r) {
        ForEachColumn(x, y, r, [&](int64_t i, int64_t j) {
          const T left = i < 0 ? T() : alpha.flat<T>()[0] * x.values[i];
          const T right = j < 0 ? T() : beta.flat<T>()[0] * y.values[j];
          sum.Put(i < 0 ? y.entry_columns[j] : x.entry_columns[i], left + right);
        });
        sum.EndRow();
      }
    }
    made = sum.Finish(type, a->shape);
  });
  TENON_RETURN_IF_ERROR(made.status());
  return SetCsrOutput(args, 0, *std::move(made));
}

// A matrix of the same places, whose values are still to be written.
absl::StatusOr<ObjectRef<CsrMatrix>> LikeThis(const CsrMatrix& m) {
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made,
                         CsrMatrix::Make(m.type(), m.shape, m.entries()));
  made->starts = m.starts;
  made->row_starts = m.row_starts;
  made->entry_columns = m.entry_columns;
  return made;
}

absl::Status RunScale(const void*, const StepArgs& args) {
  const Tensor factors = args.run_state->Input(1);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* a, CsrInput(args, 0, factors.dtype()));
  const bool each = a->shape.rank() == 3 && factors.shape() == Shape({a->batch(), 1, 1});
  if (!each && factors.shape().rank() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'b' must be a scalar or have one element for each matrix of a batch, "
                     "not shape ",
                     factors.shape().ToString(), " for matrices of shape ", a->shape.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made, LikeThis(*a));
  VisitMatrixType(a->type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t m = 0; m < a->batch(); ++m) {
      const T factor = factors.flat<T>()[each ? m : 0];
      for (int64_t i = a->first(m); i < a->first(m + 1); ++i)
        made->values.flat<T>()[i] = a->values.flat<T>()[i] * factor;
    }
  });
  return SetCsrOutput(args, 0, std::move(made));
}

// Calls f with a zero of the matrices' type.
template <typename F>
void VisitRealType(DataType type, F&& f) {
  if (type == DataType::kFloat) return f(float());
  f(double());
}

// Of each row's entries; what is not there counts for nothing.
absl::Status RunCsrSoftmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TypeState*>(state);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* a, CsrInput(args, 0, s.type));
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made, LikeThis(*a));
  VisitRealType(s.type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t m = 0; m < a->batch(); ++m) {
      const CsrView<T> logits(*a, m);
      T* const out = made->values.flat<T>() + a->first(m);
      for (int64_t r = 0; r < logits.rows; ++r) {
        const int64_t begin = logits.row_starts[r], end = logits.row_starts[r + 1];
        if (begin == end) continue;
        const double most = *std::max_element(logits.values + begin, logits.values + end);
        double sum = 0;
        for (int64_t i = begin; i < end; ++i) sum += std::exp(logits.values[i] - most);
        for (int64_t i = begin; i < end; ++i)
          out[i] = static_cast<T>(std::exp(logits.values[i] - most) / sum);
      }
    }
  });
  return SetCsrOutput(args, 0, std::move(made));
}

absl::Status RunSoftmaxGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TypeState*>(state);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* softmax, CsrInput(args, 0, s.type));
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* gradient, CsrInput(args, 1, s.type));
  TENON_RETURN_IF_ERROR(CheckPair(*softmax, *gradient));
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made, LikeThis(*softmax));
  VisitRealType(s.type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t m = 0; m < softmax->batch(); ++m) {
      const CsrView<T> y(*softmax, m), dy(*gradient, m);
      T* const out = made->values.flat<T>() + softmax->first(m);
      for (int64_t r = 0; r < y.rows; ++r) {
        double sum = 0;
        ForEachColumn(y, dy, r, [&](int64_t i, int64_t j) {
          if (i >= 0 && j >= 0) sum += double{y.values[i]} * dy.values[j];
        });
        ForEachColumn(y, dy, r, [&](int64_t i, int64_t j) {
          const double from = j < 0 ? 0 : dy.values[j];
          if (i >= 0) out[i] = static_cast<T>(y.values[i] * (from - sum));
        });
      }
    }
  });
  return SetCsrOutput(args, 0, std::move(made));
}

}  // namespace

absl::Span<const CpuKernelSpec> CsrArithmeticKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("SparseMatrixZeros", "type", kMatrixTypes,
                        PrepareWhole<&RunZeros, TypeState>),
      WholeTensorKernel("SparseMatrixAdd", "T", kMatrixTypes, PrepareWhole<&RunCsrAdd>),
      WholeTensorKernel("SparseMatrixMul", "T", kMatrixTypes, PrepareWhole<&RunScale>),
      WholeTensorKernel("SparseMatrixSoftmax", "type", kRealMatrixTypes,
                        PrepareWhole<&RunCsrSoftmax, TypeState>),
      WholeTensorKernel("SparseMatrixSoftmaxGrad", "type", kRealMatrixTypes,
                        PrepareWhole<&RunSoftmaxGrad, TypeState>),
  };
  return specs;
}

}  // namespace tenon::cpu
