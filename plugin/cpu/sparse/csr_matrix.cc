#include "plugin/cpu/sparse/csr_matrix.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<Tensor> Zeros(const Dims& dims) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(DataType::kInt32, shape));
  std::memset(zeros.data(), 0, zeros.bytes());
  return zeros;
}

}  // namespace

absl::StatusOr<ObjectRef<CsrMatrix>> CsrMatrix::Make(DataType type, const Shape& shape,
                                                     int64_t entries) {
  if (shape.rank() != 2 && shape.rank() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sparse matrix must have rank 2 or 3, its shape is ", shape.ToString()));
  }
  const bool small = std::all_of(shape.dims().begin(), shape.dims().end(),
                                 [](int64_t dim) { return dim < INT32_MAX; });
  if (!small || entries > INT32_MAX) {
    return absl::InvalidArgumentError(absl::StrCat("a sparse matrix of shape ", shape.ToString(),
                                                   " with ", entries,
                                                   " entries is beyond what 32 bits can count"));
  }
  auto made = ObjectRef<CsrMatrix>::Adopt(new CsrMatrix());
  made->shape = shape;
  TENON_ASSIGN_OR_RETURN(made->starts, Zeros({made->batch() + 1}));
  TENON_ASSIGN_OR_RETURN(made->row_starts, Zeros({made->batch() * (made->rows() + 1)}));
  TENON_ASSIGN_OR_RETURN(made->entry_columns, Zeros({entries}));
  TENON_ASSIGN_OR_RETURN(made->values, Tensor::Allocate(type, Shape({entries})));
  return made;
}

absl::StatusOr<const CsrMatrix*> CsrInput(const StepArgs& args, int i, DataType type) {
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* matrix, InputAs<CsrMatrix>(args, i));
  if (type == DataType::kInvalid || matrix->type() == type) return matrix;
  return absl::InvalidArgumentError(absl::StrCat("input ", i, " is a sparse matrix of ",
                                                 DataTypeName(matrix->type()), ", not of ",
                                                 DataTypeName(type)));
}

absl::Status SetCsrOutput(const StepArgs& args, int i, ObjectRef<CsrMatrix> matrix) {
  TENON_ASSIGN_OR_RETURN(
      Tensor handle, HandleTensor(DataType::kVariant, ObjectRef<Object>::Adopt(matrix.release())));
  args.run_state->SetOutput(i, std::move(handle));
  return absl::OkStatus();
}

absl::StatusOr<ObjectRef<CsrMatrix>> Transposed(const CsrMatrix& matrix, bool conjugate) {
  Dims dims(matrix.shape.dims().begin(), matrix.shape.dims().end());
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made,
                         CsrMatrix::Make(matrix.type(), shape, matrix.entries()));
  std::copy_n(matrix.starts.flat<int32_t>(), matrix.batch() + 1, made->starts.flat<int32_t>());
  VisitMatrixType(matrix.type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t b = 0; b < matrix.batch(); ++b) {
      const CsrView<T> from(matrix, b);
      int32_t* const starts = made->row_starts.flat<int32_t>() + b * (made->rows() + 1);
      for (int64_t i = 0; i < matrix.count(b); ++i) ++starts[from.entry_columns[i] + 1];
      for (int64_t r = 0; r < made->rows(); ++r) starts[r + 1] += starts[r];
      // A counting sort by column: linear time, and rows of the result come out sorted.
      std::vector<int32_t> next(starts, starts + made->rows());
      for (int64_t r = 0; r < from.rows; ++r) {
        for (int64_t i = from.row_starts[r]; i < from.row_starts[r + 1]; ++i) {
          const int64_t at = made->first(b) + next[from.entry_columns[i]]++;
          made->entry_columns.flat<int32_t>()[at] = static_cast<int32_t>(r);
          made->values.flat<T>()[at] = conjugate ? Conjugate(from.values[i]) : from.values[i];
        }
      }
    }
  });
  return made;
}

absl::StatusOr<CsrFactor> CsrFactor::Of(const Prepare& p, std::string_view name) {
  CsrFactor factor;
  TENON_ASSIGN_OR_RETURN(factor.transpose, p.AttrBool(absl::StrCat("transpose_", name)));
  TENON_ASSIGN_OR_RETURN(factor.conjugate, p.AttrBool(absl::StrCat("adjoint_", name)));
  if (factor.transpose && factor.conjugate) {
    return p.Invalid(
        absl::StrCat("'transpose_", name, "' and 'adjoint_", name, "' cannot both be true"));
  }
  factor.transpose |= factor.conjugate;
  return factor;
}

}  // namespace tenon::cpu
