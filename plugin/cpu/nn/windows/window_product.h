// Inner loops of convolutions for which oneDNN has nothing but reference code: products of rows of
// floats that lie anywhere.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// out[i][j] = sum over s, then over c, of in[s][i][c] * w[s][c][j]. Every sum is made in this
// order, whatever is computed beside it.
struct WindowProduct {
  int64_t rows;  // a multiple of the loops' `rows`
  int64_t steps, depth;
  const float* const* in;  // `depth` values of row i at step s begin at in[s * rows + i] + in_at
  int64_t in_at;
  const int64_t* places;  // which of the weights belong to each step
  const float* weights;   // those of place p begin at p * depth * (columns in whole vectors)
  float* const* out;      // row i begins at out[i] + out_at
  int64_t out_at;
  int64_t columns;  // at most the loops' `columns`
  bool add;         // to what `out` holds
};

// out[i][j] = sum along all runs of x[i] * y[j], in their order.
struct RunProduct {
  struct Run {
    const float *x, *y;  // the first of `count` rows, x_step and y_step apart
    int64_t count;
  };
  const Run* runs;
  int64_t num_runs;
  int64_t x_at, y_at, x_step, y_step;
  int64_t rows, columns;
  float* out;
  int64_t out_row;
  bool add;  // to what `out` holds
};

struct WindowLoops {
  int64_t width;          // floats of a vector
  int64_t rows, columns;  // that WindowProduct computes at a time; whole vectors
  void (*multiply)(const WindowProduct& g);
  void (*multiply_runs)(const RunProduct& g);
};

namespace sse2 {
WindowLoops GetWindowLoops();
}
namespace avx2 {
WindowLoops GetWindowLoops();
}
namespace avx512 {
WindowLoops GetWindowLoops();
}

}  // namespace tenon::cpu
