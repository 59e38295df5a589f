// Crossed features: columns of rows of values, strings or int64, and all combinations of one value
// of each column of a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cpu {

// One column. Row r holds the values numbered from starts[r] up to starts[r + 1], all rows in
// `values`.
struct CrossColumn {
  Tensor values;
  std::vector<int64_t> starts;
  bool dense = false;

  int64_t CountAt(int64_t row) const { return starts[row + 1] - starts[row]; }
  bool strings() const { return values.dtype() == DataType::kString; }
  // Value i as a string, only if strings(). The view lives as long as `values`.
  std::string_view StringOf(int64_t i) const;
  // Value i as text, an integer in decimal.
  std::string TextOf(int64_t i) const;
  // The 64-bit farmhash fingerprint of a string; an integer itself.
  uint64_t Fingerprint(int64_t i) const;
};

// Returns the column of a matrix: as many values in each row as the matrix has columns.
CrossColumn DenseColumn(const Tensor& matrix);

// The numbers of combinations. starts[r] counts the combinations in the rows before row r.
struct CrossSizes {
  std::vector<int64_t> starts = {0};
  int64_t most = 0;  // in one row
  int64_t total() const { return starts.back(); }
};
// Counts the combinations of rows [0, rows). RESOURCE_EXHAUSTED if the combinations would take more
// bytes than CheckStringBytes permits.
absl::StatusOr<CrossSizes> CountCrosses(const std::vector<CrossColumn>& columns, int64_t rows);

// Calls put(at, chosen) for each combination: `at` counts from 0, chosen[c] is the number of column
// c's value. Combinations come row by row; within a row, the last column's value changes fastest.
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
// Returns fingerprint modulo `buckets`; modulo the greatest int64 for 0 buckets.
int64_t BucketOf(uint64_t fingerprint, int64_t buckets);

}  // namespace tenon::cpu
