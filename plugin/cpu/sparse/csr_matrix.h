// Sparse matrices in compressed sparse row (CSR) format, as elements of variant tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// One matrix, or a batch of matrices. An object that several tensors share must not be changed.
class CsrMatrix : public Object {
 public:
  static constexpr std::string_view kKind = "sparse matrix";
  std::string_view kind() const override { return kKind; }

  // Makes a matrix with room for `entries` entries. All rows are empty, all indices 0, values
  // unset. INVALID_ARGUMENT if `shape` is neither a matrix nor a batch of matrices, or a number
  // exceeds int32. RESOURCE_EXHAUSTED if memory is short.
  static absl::StatusOr<ObjectRef<CsrMatrix>> Make(DataType type, const Shape& shape,
                                                   int64_t entries);

  DataType type() const { return values.dtype(); }
  int64_t batch() const { return shape.rank() == 3 ? shape.dim(0) : 1; }
  int64_t rows() const { return shape.dim(shape.rank() - 2); }
  int64_t columns() const { return shape.dim(shape.rank() - 1); }
  int64_t entries() const { return entry_columns.num_elements(); }
  // The number of matrix b's first entry, and the number of its entries.
  int64_t first(int64_t b) const { return starts.flat<int32_t>()[b]; }
  int64_t count(int64_t b) const { return first(b + 1) - first(b); }

  Shape shape;           // [rows, columns] or [batch, rows, columns]
  Tensor starts;         // int32 [batch + 1]: the first entry of each matrix
  Tensor row_starts;     // int32 [batch * (rows + 1)]: that of each row, counted within its matrix
  Tensor entry_columns;  // int32 [entries]
  Tensor values;         // [entries]

 private:
  CsrMatrix() = default;
};

// A view of matrix b of a batch. The CsrMatrix must outlive the view.
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
  // Adds an entry to the current row. Columns may come in any order.
  void Put(int64_t column, T value) {
    columns_.push_back(static_cast<int32_t>(column));
    values_.push_back(value);
  }
  // Ends the current row and begins the next. The row behind a matrix's last begins the next
  // matrix.
  void EndRow() { row_ends_.push_back(static_cast<int64_t>(columns_.size())); }
  // Returns the batch of shape `shape`. All rows of the batch must be ended.
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

// Returns the matrix in input i, which lives until the run function returns. INVALID_ARGUMENT if
// the input is no sparse matrix or, unless `type` is kInvalid, has another type.
absl::StatusOr<const CsrMatrix*> CsrInput(const StepArgs& args, int i,
                                          DataType type = DataType::kInvalid);
// Makes output i a variant scalar that owns the matrix.
absl::Status SetCsrOutput(const StepArgs& args, int i, ObjectRef<CsrMatrix> matrix);

// Returns a new batch: every matrix with rows and columns exchanged, its elements conjugated if
// `conjugate`. Entries of a row stand in ascending order of columns.
absl::StatusOr<ObjectRef<CsrMatrix>> Transposed(const CsrMatrix& matrix, bool conjugate);

// The attributes of one factor of a product.
struct CsrFactor {
  // Reads attributes transpose_`name` and adjoint_`name`. INVALID_ARGUMENT if both are true.
  static absl::StatusOr<CsrFactor> Of(const Prepare& p, std::string_view name);  // "a" or "b"
  // An adjoint factor has both.
  bool transpose = false, conjugate = false;
};

}  // namespace tenon::cpu
