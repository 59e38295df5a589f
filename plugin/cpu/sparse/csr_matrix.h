// Sparse matrices in compressed sparse row (CSR) format, as elements of variant tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/tensor.h"

namespace tenon {
class Prepare;
struct StepArgs;
}  // namespace tenon

namespace tenon::cpu {

// One matrix, or a batch of matrices, of a type of VisitMatrixType (linalg/matrix_step.h), which
// Make does not check. The entries of a row stand one after the other, in any order of columns. An
// object that several tensors share must not be changed.
class CsrMatrix : public Object {
 public:
  static constexpr std::string_view kKind = "sparse matrix";
  std::string_view kind() const override { return kKind; }

  // Makes a matrix or a batch with room for `entries` entries in all. All rows are empty, all
  // indices 0, values unset. INVALID_ARGUMENT if `shape` is neither a matrix nor a batch of
  // matrices, if a dimension is not below 2^31 - 1, or if there are more entries than that.
  // RESOURCE_EXHAUSTED if memory is short.
  static absl::StatusOr<ObjectRef<CsrMatrix>> Make(DataType type, const Shape& shape,
                                                   int64_t entries);

  DataType type() const { return values.dtype(); }
  int64_t batch() const { return shape.rank() == 3 ? shape.dim(0) : 1; }
  int64_t rows() const { return shape.dim(shape.rank() - 2); }
  int64_t columns() const { return shape.dim(shape.rank() - 1); }
  int64_t entries() const { return entry_columns.num_elements(); }
  // The number of matrix b's first entry, for b in [0, batch()], and the number of its entries.
  int64_t first(int64_t b) const { return starts.flat<int32_t>()[b]; }
  int64_t count(int64_t b) const { return first(b + 1) - first(b); }

  Shape shape;  // [rows, columns] or [batch, rows, columns]
  // int32 [batch + 1]: the number of the first entry of each matrix; then the number of all
  // entries.
  Tensor starts;
  // int32 [batch * (rows + 1)]: for each matrix, the number of the first entry of each row, counted
  // from the matrix's first entry; then the number of the matrix's entries.
  Tensor row_starts;
  Tensor entry_columns;  // int32 [entries]: the column of each entry
  Tensor values;         // [entries]: the value of each entry

 private:
  CsrMatrix() = default;
};

// A view of matrix b of a batch, with values of type T, the type of the matrix. The CsrMatrix must
// outlive the view. row_starts has rows + 1 numbers, which index entry_columns and values.
template <typename T>
struct CsrView {
  CsrView(const CsrMatrix& m, int64_t b)
      : rows(m.rows()),
        columns(m.columns()),
        row_starts(m.row_starts.flat<int32_t>() + b * (m.rows() + 1)),
        entry_columns(m.entry_columns.flat<int32_t>() + m.first(b)),
        values(m.values.flat<T>() + m.first(b)) {}

  int64_t rows, columns;
  const int32_t* row_starts;
  const int32_t* entry_columns;
  const T* values;
};

// Collects entries row by row, matrix by matrix. One thread uses a builder.
template <typename T>
class CsrBuilder {
 public:
  // Adds an entry to the current row. Columns may come in any order. The caller checks that the
  // column lies in the matrix.
  void Put(int64_t column, T value) {
    columns_.push_back(static_cast<int32_t>(column));
    values_.push_back(value);
  }
  // Ends the current row and begins the next. The row behind a matrix's last begins the next
  // matrix.
  void EndRow() { row_ends_.push_back(static_cast<int64_t>(columns_.size())); }
  // Returns the matrix or batch of shape `shape`, of type `type`, which T stores. All rows must be
  // ended. Errors as of CsrMatrix::Make.
  absl::StatusOr<ObjectRef<CsrMatrix>> Finish(DataType type, const Shape& shape) {
    TENON_ASSIGN_OR_RETURN(ObjectRef<CsrMatrix> made,
                           CsrMatrix::Make(type, shape, static_cast<int64_t>(columns_.size())));
    const int64_t rows = made->rows();
    int64_t end = 0;
    for (int64_t b = 0; b < made->batch(); ++b) {
      const int64_t first = end;
      for (int64_t r = 0; r < rows; ++r) {
        end = row_ends_[b * rows + r];
        made->row_starts.flat<int32_t>()[b * (rows + 1) + r + 1] =
            static_cast<int32_t>(end - first);
      }
      made->starts.flat<int32_t>()[b + 1] = static_cast<int32_t>(end);
    }
    std::copy(columns_.begin(), columns_.end(), made->entry_columns.flat<int32_t>());
    std::copy(values_.begin(), values_.end(), made->values.flat<T>());
    return made;
  }

 private:
  std::vector<int32_t> columns_;
  std::vector<T> values_;
  std::vector<int64_t> row_ends_;
};

// Returns the matrix or batch in input i, which lives until the run function returns.
// INVALID_ARGUMENT if the input holds no sparse matrix or, unless `type` is kInvalid, one of
// another type.
absl::StatusOr<const CsrMatrix*> CsrInput(const StepArgs& args, int i,
                                          DataType type = DataType::kInvalid);
// Makes output i a variant scalar that owns the matrix. RESOURCE_EXHAUSTED if memory is short.
absl::Status SetCsrOutput(const StepArgs& args, int i, ObjectRef<CsrMatrix> matrix);

// Returns a new matrix or batch: every matrix with rows and columns exchanged, its elements
// conjugated if `conjugate`. Columns ascend within each row of the result; entries at one place
// keep their order. Errors as of CsrMatrix::Make.
absl::StatusOr<ObjectRef<CsrMatrix>> Transposed(const CsrMatrix& matrix, bool conjugate);

// The attributes of one factor of a product.
struct CsrFactor {
  // Reads attributes transpose_`name` and adjoint_`name`. INVALID_ARGUMENT if both are true.
  static absl::StatusOr<CsrFactor> Of(const Prepare& p, std::string_view name);  // "a" or "b"
  // For an adjoint factor, both are true.
  bool transpose = false, conjugate = false;
};

}  // namespace tenon::cpu
