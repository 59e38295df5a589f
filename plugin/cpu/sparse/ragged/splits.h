// Row splits of ragged tensors: row r holds elements [splits[r], splits[r + 1]) of the values.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/cpu/base/kernel_util.h"

namespace tenon::cpu {

// A view of a vector of splits, int32 or int64. The caller owns the memory.
struct Splits {
  const void* data = nullptr;
  bool is64 = true;
  int64_t count = 0;  // of splits: rows + 1

  int64_t rows() const { return count - 1; }
  int64_t operator[](int64_t i) const { return LoadIndex(data, is64, i); }
  int64_t back() const { return (*this)[count - 1]; }

  // Returns the row that holds element i, for an i in [first split, last split). Looks at row
  // `hint` first, which must be in [0, rows()), then bisects. Empty rows hold nothing. The splits
  // must not decrease.
  int64_t RowOf(int64_t i, int64_t hint) const;
};

// Returns INVALID_ARGUMENT if there is no split, or a split decreases, is negative or exceeds
// `limit`. `input` is the input number for the message.
absl::Status CheckSplits(const Splits& splits, int64_t limit, int input);

}  // namespace tenon::cpu
