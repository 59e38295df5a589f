// The inner loops of reductions, one set per operation and type. The loops compute in the calling
// thread and need no alignment. The order of each sum follows from the arguments and the width of
// the machine's vectors.
#pragma once

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// kMax and kMin give NaN if an element is NaN. Integers wrap around.
enum class ReduceOp : uint8_t { kSum, kProd, kMax, kMin, kSumSquares };

// The loops of one operation for one element type. An accumulator has the type acc_type: double for
// kSum and kSumSquares of type float, else the element's type. In sums of floats by `run` and
// `rows`, a lane of a vector takes at most 64 additions; then partial sums are joined in double.
// kSumSquares squares each x first. The caller sets accumulators to the value of an empty reduction
// first, and rounds them to elements at the end.
struct ReduceLoops {
  // acc[0] = acc[0] op x[0] op … op x[n-1]. Elements are contiguous.
  void (*run)(const void* x, int64_t n, void* acc) = nullptr;
  // acc[j] = acc[j] op row_0[j] op … op row_last[j] for j < columns. `rows` rows are `stride` bytes
  // apart, the elements of a row contiguous. columns <= kReduceColumns.
  void (*rows)(const void* x, int64_t stride, int64_t rows, int64_t columns, void* acc) = nullptr;
  DataType acc_type = DataType::kInvalid;
  // short_runs and short_rows reduce few elements without accumulators: results are elements, and
  // sums are computed in float only. Both are null except for type float and kSum, kMax and kMin.
  //
  // out[r] = x_r[0] op … op x_r[n-1] for each of `runs` runs, which begin `stride` bytes apart; the
  // elements of a run are contiguous. 1 <= n <= short_run.
  void (*short_runs)(const void* x, int64_t stride, int64_t runs, int64_t n, void* out) = nullptr;
  int64_t short_run = 0;
  // out[j] = row_0[j] op … op row_last[j] for j < columns, rows as above. 1 <= rows <=
  // kReduceShortRows. `columns` has no limit.
  void (*short_rows)(const void* x, int64_t stride, int64_t rows, int64_t columns,
                     void* out) = nullptr;
};

// A caller that splits the runs of a tensor over threads begins each call of short_runs at a
// multiple of this number of runs. A vector holds 16 runs or fewer, so a run always shares its
// vector with the same runs, and the order of its sum does not depend on the number of threads.
inline constexpr int64_t kReduceRuns = 16;
// Bounds of ReduceLoops.
inline constexpr int64_t kReduceColumns = 1024;
inline constexpr int64_t kReduceShortRows = 64;

// Returns the loops for CpuIsa(). They exist for float, double, all signed and unsigned integers,
// and for bool with kMax and kMin. `run` and `rows` are null for any other type.
ReduceLoops FindReduceLoops(ReduceOp op, DataType t);

}  // namespace tenon::cpu
