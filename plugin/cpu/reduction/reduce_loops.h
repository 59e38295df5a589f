// The inner loops of reductions, one set per operation and type.
#pragma once

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

enum class ReduceOp : uint8_t { kSum, kProd, kMax, kMin, kSumSquares };

// Accumulators have the element's type, but for float sums, which are kept in double: partial sums
// of at most 64 additions in float lanes are added up there, which is more exact than pairwise
// summation in float.
struct ReduceLoops {
  // acc[0] = acc[0] op x[0] op … op x[n-1].
  void (*run)(const void* x, int64_t n, void* acc) = nullptr;
  // acc[j] = acc[j] op row_0[j] op … for j < columns; rows are `stride` bytes apart; columns <=
  // kReduceColumns.
  void (*rows)(const void* x, int64_t stride, int64_t rows, int64_t columns, void* acc) = nullptr;
  DataType acc_type = DataType::kInvalid;
  // out[r] = x_r[0] op … op x_r[n-1] for runs of 1 <= n <= short_run elements that start `stride`
  // bytes apart; elements, no accumulators. Null where `run` has to do.
  void (*short_runs)(const void* x, int64_t stride, int64_t runs, int64_t n, void* out) = nullptr;
  int64_t short_run = 0;
  // out[j] = row_0[j] op row_1[j] op … in the same way, for 1 <= rows <= kReduceShortRows.
  void (*short_rows)(const void* x, int64_t stride, int64_t rows, int64_t columns,
                     void* out) = nullptr;
};

// Runs that are reduced together, which decides about the order of their sums.
inline constexpr int64_t kReduceRuns = 16;
inline constexpr int64_t kReduceColumns = 1024;
inline constexpr int64_t kReduceShortRows = 64;

// Float, double, all integers, and (as uint8) bool. `run` is null where there are none.
ReduceLoops FindReduceLoops(ReduceOp op, DataType t);

}  // namespace tenon::cpu
