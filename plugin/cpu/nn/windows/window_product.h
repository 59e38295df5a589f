// Inner loops of convolutions for which oneDNN has only reference code: products of rows of floats
// that lie anywhere in memory.
//
// The loops compute in the calling thread, allocate nothing and need no alignment. Each sum has one
// order: it does not depend on the rows and columns that a loop computes beside the sum.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// out[i][j] = the sum over steps s and channels c of in[s][i][c] * w[s][c][j], for each row i of
// each tile and each column j of one block of columns. A step is a place of the window. The
// channels of a row lie one behind the other, and so do the columns of a row of sums. The sums must
// not overlap the operands.
struct WindowProduct {
  // WindowLoops::rows rows. A loop reads and writes all of them: a caller with fewer rows lets the
  // surplus rows read any valid row and write to memory of no use. Row i's values at step s begin
  // at in[s * in_step + i] + moves[s] + in_at, row i's sums at out[i] + out_at. in_step is 0 if all
  // steps use the same pointers, and `moves` alone leads from step to step.
  struct Tile {
    const float* const* in;  // one pointer per row, or per step and row
    int64_t in_step;         // pointers from one step to the next
    const int64_t* moves;    // floats, one per step
    float* const* out;       // one pointer per row
  };
  const Tile* tiles;
  int64_t num_tiles;
  int64_t steps, depth;   // depth: channels c
  int64_t in_at, out_at;  // floats: where a group of channels and a block of columns begin
  const int64_t* places;  // one per step: the number of the step's block in `weights`
  const float* weights;   // blocks of equal size; each loop of WindowLoops has a layout of its own
  int64_t columns;        // of the block of columns: at least 1, at most what the loop takes
  bool add;               // add to the values in `out`; false: replace them
};

// out[i * out_row + j] = the sum over all runs, and over the rows n of each run, of
// x[x_at + n * x_step + i] * y[y_at + n * y_step + j], in this order, for i < rows and j < columns.
// Steps, offsets and out_row are in floats. The sums must not overlap the operands.
struct RunProduct {
  struct Run {
    const float *x, *y;  // the first of `count` rows
    int64_t count;
  };
  const Run* runs;
  int64_t num_runs;
  int64_t x_at, y_at, x_step, y_step;
  int64_t rows, columns;  // of `out`; no limit
  float* out;
  int64_t out_row;
  bool add;  // add the finished sum to the value in `out`; false: replace the value
};

// The loops of one instruction set.
struct WindowLoops {
  int64_t width;    // floats of a vector
  int64_t rows;     // of a tile
  int64_t columns;  // the most columns of `multiply`: whole vectors
  int64_t narrow;   // the most columns of `multiply_narrow`
  // Each vector holds columns, up to WindowLoops::columns. A sum runs over c within s, in ascending
  // order, and with `add` continues from the value in `out`. A block of weights is `depth` rows of
  // `columns` values; each row is padded to whole vectors with any values.
  void (*multiply)(const WindowProduct& g);
  // Each vector holds channels; at most `narrow` columns. A sum runs in each lane over every
  // width-th c within s; then the lanes are added up. With `add` the finished sum is added to the
  // value in `out`. A block of weights is `columns` rows of `depth` values; each row is padded to
  // whole vectors with zeros.
  void (*multiply_narrow)(const WindowProduct& g);
  void (*multiply_runs)(const RunProduct& g);
};

// Select by SelectIsa.
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
