// The inner loops of reductions, one set per operation and type. The loops compute in the calling
// thread and need no alignment. The order of each sum follows from the arguments and the width of
// the machine's vectors.
#pragma once

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// kMax and kMin give NaN if an element is NaN. Integers wrap around.
enum class ReduceOp : uint8_t { kSum, kProd, kMax, kMin, kSumSquares };

// An accumulator has the type acc_type: double for sums and sums of squares of floats, else the
// element's type. Float lanes take at most 64 additions; then partial sums are joined in double,
// which is more exact than pairwise summation in float. The caller sets accumulators to the value
// of an empty reduction first, and rounds them to elements at the end.
struct ReduceLoops {
  // acc[0] = acc[0] op x[0] op … op x[n-1]. Elements are contiguous.
  void (*run)(const void* x, int64_t n, void* acc) = nullptr;
  // acc[j] = acc[j] op row_0[j] op … op row_last[j] for j < columns. Rows are `stride` bytes apart,
  // the elements of a row contiguous. columns <= kReduceColumns.
  void (*rows)(const void* x, int64_t stride, int64_t rows, int64_t columns, void* acc) = nullptr;
  DataType acc_type = DataType::kInvalid;
  // Reductions of few elements, without accumulators: results are elements, and sums of floats are
  // rounded in float only. Null except for floats and operations other than kProd and kSumSquares.
  //
  // out[r] = x_r[0] op … op x_r[n-1] for each of `runs` runs, which begin `stride` bytes apart. 1
  // <= n <= short_run.
  void (*short_runs)(const void* x, int64_t stride, int64_t runs, int64_t n, void* out) = nullptr;
  int64_t short_run = 0;
  // out[j] = row_0[j] op … op row_last[j] for j < columns. 1 <= rows <= kReduceShortRows. `columns`
  // has no limit.
  void (*short_rows)(const void* x, int64_t stride, int64_t rows, int64_t columns,
                     void* out) = nullptr;
};

// Each call of short_runs begins at a multiple of so many runs of the tensor. A vector holds 16
// runs or fewer, so a run always shares its vector with the same runs, and the order of its sum
// does not depend on the number of threads.
inline constexpr int64_t kReduceRuns = 16;
// Bounds of ReduceLoops.
inline constexpr int64_t kReduceColumns = 1024;
inline constexpr int64_t kReduceShortRows = 64;

// Returns the loops for CpuIsa(): for float, double, all integers, and bool for kMax and kMin.
// `run` is null for any other type.
ReduceLoops FindReduceLoops(ReduceOp op, DataType t);

}  // namespace tenon::cpu
