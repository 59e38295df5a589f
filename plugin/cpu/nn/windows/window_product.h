// Inner loops of convolutions for which oneDNN has nothing but reference code: products of rows of
// floats that lie anywhere.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// out[i][j] = sum over steps s and channels c of in[s][i][c] * w[s][c][j]. The order of a sum is
// that of the loop, whatever is computed beside it.
struct WindowProduct {
  // As many rows as the loops compute at a time. Row i's values at step s begin at
  // in[s * in_step + i] + moves[s] + in_at, its sums at out[i] + out_at.
  struct Tile {
    const float* const* in;
    int64_t in_step;
    const int64_t* moves;
    float* const* out;
  };
  const Tile* tiles;
  int64_t num_tiles;
  int64_t steps, depth;
  int64_t in_at, out_at;
  const int64_t* places;  // which of the weights belong to each step
  const float* weights;   // those of a place: see the loops
  int64_t columns;
  bool add;  // to what `out` holds
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
  int64_t width;    // floats of a vector
  int64_t rows;     // of a tile
  int64_t columns;  // that `multiply` computes at a time; whole vectors
  int64_t narrow;   // the most columns of `multiply_narrow`
  // Over s, then over c. Weights of a place are `depth` rows of the columns, in whole vectors.
  void (*multiply)(const WindowProduct& g);
  // Over s, then over c by each lane of a vector, then over lanes. Weights of a place are `columns`
  // rows of the depth, in whole vectors.
  void (*multiply_narrow)(const WindowProduct& g);
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
