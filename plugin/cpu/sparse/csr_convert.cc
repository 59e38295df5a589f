// Sparse matrices from coordinates and dense tensors and back, and their parts:
// SparseTensorToCSRSparseMatrix, DenseToCSRSparseMatrix, CSRSparseMatrixToSparseTensor,
// CSRSparseMatrixToDense, CSRSparseMatrixComponents, SparseMatrixNNZ, SparseMatrixTranspose.
#include <algorithm>
#include <cstring>
#include <vector>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// A counting sort by matrix and row, in two passes: entries need not be sorted, and those of one
// row keep their order. Columns of a row are therefore sorted only if the coordinates were; one
// place that is given twice becomes two entries.
absl::StatusOr<ObjectRef<CsrMatrix>> FromCoordinates(const Shape& shape, const Tensor& indices,
                                                     const Tensor& values) {
  const int64_t count = values.num_elements();
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made, CsrMatrix::Make(values.dtype(), shape, count));
  const int rank = shape.rank();
  const int64_t rows = made->rows();
  int32_t* const starts = made->starts.flat<int32_t>();
  int32_t* const row_starts = made->row_starts.flat<int32_t>();
  const auto matrix_of = [&](absl::Span<const int64_t> entry) { return rank == 3 ? entry[0] : 0; };
  for (int64_t i = 0; i < count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(indices.data(), rank, i);
    if (!Inside(entry, shape.dims())) return OutsideError(i, entry, shape.dims());
    const int64_t b = matrix_of(entry);
    ++starts[b + 1];
    ++row_starts[b * (rows + 1) + entry[rank - 2] + 1];
  }
  for (int64_t b = 0; b < made->batch(); ++b) {
    starts[b + 1] += starts[b];
    int32_t* const of_matrix = row_starts + b * (rows + 1);
    for (int64_t r = 0; r < rows; ++r) of_matrix[r + 1] += of_matrix[r];
  }
  // Where the next entry of each row goes, counted from the matrix's first entry.
  std::vector<int32_t> next(row_starts, row_starts + made->row_starts.num_elements());
  const ElementCopy copy(values.dtype());
  for (int64_t i = 0; i < count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(indices.data(), rank, i);
    const int64_t b = matrix_of(entry);
    const int64_t at = starts[b] + next[b * (rows + 1) + entry[rank - 2]]++;
    made->entry_columns.flat<int32_t>()[at] = static_cast<int32_t>(entry[rank - 1]);
    copy(values.data(), i, made->values.data(), at);
  }
  return made;
}

absl::Status CheckCoordinates(const Tensor& indices, int64_t rank) {
  if (indices.shape().rank() == 2 && indices.shape().dim(1) == rank) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'indices' must be a matrix of ", rank,
                                                 " columns, its shape is ",
                                                 indices.shape().ToString()));
}

absl::Status RunFromSparse(const void*, const StepArgs& args) {
  const Tensor indices = args.run_state->Input(0), values = args.run_state->Input(1),
               dense_shape = args.run_state->Input(2);
  if (dense_shape.shape().rank() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("'dense_shape' must be a vector, its shape is ",
                                                   dense_shape.shape().ToString()));
  }
  TENON_RETURN_IF_ERROR(CheckCoordinates(indices, dense_shape.num_elements()));
  if (!(values.shape() == Shape({indices.shape().dim(0)}))) {
    return absl::InvalidArgumentError(absl::StrCat("'values' of shape ", values.shape().ToString(),
                                                   " for indices of shape ",
                                                   indices.shape().ToString()));
  }
  TENON_ASSIGN_OR_RETURN(
      const Shape shape,
      Shape::Make(absl::MakeSpan(dense_shape.flat<int64_t>(), dense_shape.num_elements())));
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made, FromCoordinates(shape, indices, values));
  return SetCsrOutput(args, 0, std::move(made));
}

absl::Status RunFromDense(const void*, const StepArgs& args) {
  const Tensor dense = args.run_state->Input(0), indices = args.run_state->Input(1);
  const int rank = dense.shape().rank();
  TENON_RETURN_IF_ERROR(CheckCoordinates(indices, rank));
  const int64_t count = indices.shape().dim(0);
  TENON_ASSIGN_OR_RETURN(const Tensor values, Tensor::Allocate(dense.dtype(), Shape({count})));
  const ElementCopy copy(dense.dtype());
  for (int64_t i = 0; i < count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(indices.data(), rank, i);
    if (!Inside(entry, dense.shape().dims())) return OutsideError(i, entry, dense.shape().dims());
    int64_t at = 0;
    for (int d = 0; d < rank; ++d) at = at * dense.shape().dim(d) + entry[d];
    copy(dense.data(), at, values.data(), i);
  }
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made,
                         FromCoordinates(dense.shape(), indices, values));
  return SetCsrOutput(args, 0, std::move(made));
}

// Calls each(matrix, row, place of the entry) for all entries in their order.
template <typename F>
void ForEachEntry(const CsrMatrix& m, F&& each) {
  const int32_t* const row_starts = m.row_starts.flat<int32_t>();
  for (int64_t b = 0; b < m.batch(); ++b) {
    for (int64_t r = 0; r < m.rows(); ++r) {
      const int32_t* const row = row_starts + b * (m.rows() + 1) + r;
      for (int64_t i = row[0]; i < row[1]; ++i) each(b, r, m.first(b) + i);
    }
  }
}

absl::Status RunToSparse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0, s.outputs[1]));
  const int rank = m->shape.rank();
  TENON_ASSIGN_OR_RETURN(void* indices,
                         args.run_state->AllocateOutput(0, Shape({m->entries(), rank})));
  auto* next = static_cast<int64_t*>(indices);
  ForEachEntry(*m, [&](int64_t b, int64_t r, int64_t at) {
    if (rank == 3) *next++ = b;
    *next++ = r;
    *next++ = m->entry_columns.flat<int32_t>()[at];
  });
  args.run_state->SetOutput(1, m->values);
  TENON_ASSIGN_OR_RETURN(void* shape, args.run_state->AllocateOutput(2, Shape({rank})));
  std::copy(m->shape.dims().begin(), m->shape.dims().end(), static_cast<int64_t*>(shape));
  return absl::OkStatus();
}

absl::Status RunCsrToDense(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0, s.outputs[0]));
  TENON_ASSIGN_OR_RETURN(void* dense, args.run_state->AllocateOutput(0, m->shape));
  const ElementCopy copy(m->type());
  copy.Zero(dense, 0, m->shape.num_elements());
  ForEachEntry(*m, [&](int64_t b, int64_t r, int64_t at) {
    const int64_t column = m->entry_columns.flat<int32_t>()[at];
    copy(m->values.data(), at, dense, (b * m->rows() + r) * m->columns() + column);
  });
  return absl::OkStatus();
}

absl::Status RunComponents(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0, s.outputs[2]));
  TENON_ASSIGN_OR_RETURN(const int64_t b, IntInput(args, 1));
  if (b < 0 || b >= m->batch()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'index' ", b, " is not in [0, ", m->batch(), ")"));
  }
  const Shape entries({m->count(b)});
  const int64_t row_starts = m->rows() + 1;
  args.run_state->SetOutput(0, PartOf(m->row_starts, b * row_starts, Shape({row_starts})));
  args.run_state->SetOutput(1, PartOf(m->entry_columns, m->first(b), entries));
  args.run_state->SetOutput(2, PartOf(m->values, m->first(b), entries));
  return absl::OkStatus();
}

absl::Status RunCount(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0));
  const Shape shape = m->shape.rank() == 3 ? Shape({m->batch()}) : Shape();
  TENON_ASSIGN_OR_RETURN(void* counts, args.run_state->AllocateOutput(0, shape));
  for (int64_t b = 0; b < m->batch(); ++b)
    static_cast<int32_t*>(counts)[b] = static_cast<int32_t>(m->count(b));
  return absl::OkStatus();
}

struct TransposeState : NodeFacts {
  explicit TransposeState(const Prepare& p)
      : NodeFacts(p),
        type(p.AttrType("type").value_or(DataType::kInvalid)),
        conjugate(p.AttrBool("conjugate").value_or(false)) {}
  DataType type;
  bool conjugate;
};

absl::Status RunTranspose(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TransposeState*>(state);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0, s.type));
  TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made, Transposed(*m, s.conjugate));
  return SetCsrOutput(args, 0, std::move(made));
}

}  // namespace

absl::Span<const CpuKernelSpec> CsrConversionKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("SparseTensorToCSRSparseMatrix", "T", kMatrixTypes,
                        PrepareWhole<&RunFromSparse>),
      WholeTensorKernel("DenseToCSRSparseMatrix", "T", kMatrixTypes, PrepareWhole<&RunFromDense>),
      WholeTensorKernel("CSRSparseMatrixToSparseTensor", "type", kMatrixTypes,
                        PrepareWhole<&RunToSparse>),
      WholeTensorKernel("CSRSparseMatrixToDense", "type", kMatrixTypes,
                        PrepareWhole<&RunCsrToDense>),
      WholeTensorKernel("CSRSparseMatrixComponents", "type", kMatrixTypes,
                        PrepareWhole<&RunComponents>),
      WholeTensorKernel("SparseMatrixNNZ", PrepareWhole<&RunCount>),
      WholeTensorKernel("SparseMatrixTranspose", "type", kMatrixTypes,
                        PrepareWhole<&RunTranspose, TransposeState>),
  };
  return specs;
}

}  // namespace tenon::cpu
