// Row splits of ragged tensors: row r holds the elements from splits[r] up to splits[r + 1] of what
// it is divided into.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/cpu/base/kernel_util.h"

namespace tenon::cpu {

struct Splits {
  const void* data = nullptr;
  bool is64 = true;
  int64_t count = 0;  // of splits: rows + 1

  int64_t rows() const { return count - 1; }
  int64_t operator[](int64_t i) const { return LoadIndex(data, is64, i); }
  int64_t back() const { return (*this)[count - 1]; }

  // The row that holds element i of [first split, last split), looked for from row `hint` on.
  int64_t RowOf(int64_t i, int64_t hint) const;
};

// OK if the splits do not decrease, are not negative and do not exceed `limit`; errors name
// the input.
absl::Status CheckSplits(const Splits& splits, int64_t limit, int input);

}  // namespace tenon::cpu
