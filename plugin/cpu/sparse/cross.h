// Crossed features: columns of values, strings or int64, with any number of values in each row. A
// combination (cross) takes one value of each column from one row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cpu {

// One column. `values` has the values of all rows, one row after the other: row r holds values
// number starts[r] to starts[r + 1] - 1.
struct CrossColumn {
  Tensor values;
  std::vector<int64_t> starts;
  bool dense = false;  // made by DenseColumn

  int64_t CountAt(int64_t row) const { return starts[row + 1] - starts[row]; }
  bool strings() const { return values.dtype() == DataType::kString; }
  // Value i as a string, only if strings(). The view lives as long as `values`.
  std::string_view StringOf(int64_t i) const;
  // Value i as text, an integer in decimal.
  std::string TextOf(int64_t i) const;
  // The 64-bit farmhash fingerprint of value i; if the value is an integer, the integer itself.
  uint64_t Fingerprint(int64_t i) const;
};

// Returns the column of a matrix: as many values in each row as the matrix has columns.
CrossColumn DenseColumn(const Tensor& matrix);

// The numbers of combinations. starts[r] counts the combinations in the rows before row r; the last
// element counts those of all rows.
struct CrossSizes {
  std::vector<int64_t> starts = {0};
  int64_t most = 0;  // the most combinations of one row
  int64_t total() const { return starts.back(); }
};
// Counts the combinations of rows [0, rows). A row in which a column has no value has none. Without
// columns each row has one combination, of no values.
// RESOURCE_EXHAUSTED if all combinations, of 24 bytes each, exceed CheckStringBytes.
absl::StatusOr<CrossSizes> CountCrosses(const std::vector<CrossColumn>& columns, int64_t rows);

// Calls put(at, chosen) for each combination that `sizes`, from CountCrosses, counts. `at` counts
// from 0 over all rows; chosen[c] is the number of the value of column c, for StringOf and its
// like. Combinations come row by row; within a row, the last column's value changes fastest.
void ForEachCross(const std::vector<CrossColumn>& columns, const CrossSizes& sizes,
                  absl::FunctionRef<void(int64_t at, const std::vector<int64_t>& chosen)> put);

// Returns the texts of the chosen values with `separator` between them.
std::string JoinCross(const std::vector<CrossColumn>& columns, const std::vector<int64_t>& chosen,
                      std::string_view separator);

// Mixes two fingerprints into one, in TensorFlow's way: the order counts.
uint64_t JoinFingerprints(uint64_t a, uint64_t b);
// Returns the fingerprint of the chosen values: `start`, joined with each column's fingerprint in
// turn.
uint64_t CrossFingerprint(const std::vector<CrossColumn>& columns,
                          const std::vector<int64_t>& chosen, uint64_t start);
// Returns fingerprint modulo `buckets`, or modulo the greatest int64 if buckets <= 0.
int64_t BucketOf(uint64_t fingerprint, int64_t buckets);

}  // namespace tenon::cpu
