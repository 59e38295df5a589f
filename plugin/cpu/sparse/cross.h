// Features that ops cross with each other: columns of rows of values, strings or int64, and all
// combinations of one value of each column of a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cpu {

// Row r holds the values from starts[r] up to starts[r + 1].
struct CrossColumn {
  Tensor values;
  std::vector<int64_t> starts;
  bool dense = false;

  int64_t CountAt(int64_t row) const { return starts[row + 1] - starts[row]; }
  bool strings() const { return values.dtype() == DataType::kString; }
  std::string_view StringOf(int64_t i) const;
  std::string TextOf(int64_t i) const;
  // A string's fingerprint, an integer itself.
  uint64_t Fingerprint(int64_t i) const;
};

CrossColumn DenseColumn(const Tensor& matrix);

// The numbers of combinations. starts[r] counts the combinations in the rows before row r.
struct CrossSizes {
  std::vector<int64_t> starts = {0};
  int64_t most = 0;  // in one row
  int64_t total() const { return starts.back(); }
};
// RESOURCE_EXHAUSTED if there are too many combinations.
absl::StatusOr<CrossSizes> CountCrosses(const std::vector<CrossColumn>& columns, int64_t rows);

// Calls put(at, chosen) for combination number `at`, the values of the columns by their numbers,
// row by row, the last column's changing first.
void ForEachCross(const std::vector<CrossColumn>& columns, const CrossSizes& sizes,
                  absl::FunctionRef<void(int64_t at, const std::vector<int64_t>& chosen)> put);

// Returns the texts of the chosen values with `separator` between them.
std::string JoinCross(const std::vector<CrossColumn>& columns, const std::vector<int64_t>& chosen,
                      std::string_view separator);

// A fingerprint of two.
uint64_t JoinFingerprints(uint64_t a, uint64_t b);
// The fingerprints of the chosen values, behind `start`.
uint64_t CrossFingerprint(const std::vector<CrossColumn>& columns,
                          const std::vector<int64_t>& chosen, uint64_t start);
// Returns the bucket of a fingerprint, below `buckets`. 0 buckets stand for as many as int64 has.
int64_t BucketOf(uint64_t fingerprint, int64_t buckets);

}  // namespace tenon::cpu
