// The cells of a fractional pooling: rectangles of rows and columns of varying size.
#pragma once

#include <cstdint>

#include "plugin/cpu/random/philox.h"

namespace tenon::cpu {

// Writes where each of `out` cells of `in` rows begins, and `in` itself last. `philox` moves on.
void DrawBoundaries(int64_t in, int64_t out, bool pseudo_random, Philox& philox,
                    int64_t* boundaries);
// Blocks of four words that DrawBoundaries uses at most.
int64_t BoundaryBlocks(int64_t out);

// Images [rows, columns, channels], cut at boundaries that a tensor holds.
struct FractionalCells {
  int64_t batch = 0, rows = 0, columns = 0, channels = 0;  // of the input
  int64_t out_rows = 0, out_columns = 0;
  bool overlapping = false;  // a cell includes the first row and column of the next

  int64_t in_places() const { return rows * columns; }
  int64_t out_places() const { return out_rows * out_columns; }

  struct Range {
    int64_t begin, end;
  };
  Range RangeAt(const int64_t* boundaries, int64_t i, int64_t size) const {
    const int64_t next = boundaries[i + 1];
    return {boundaries[i], next < size ? next + (overlapping ? 1 : 0) : size};
  }

  // Calls f(input place) for each place of the cell of output place `out`.
  template <typename F>
  void ForEachInCell(const int64_t* row_boundaries, const int64_t* column_boundaries, int64_t out,
                     F f) const {
    const Range r = RangeAt(row_boundaries, out / out_columns, rows);
    const Range c = RangeAt(column_boundaries, out % out_columns, columns);
    for (int64_t i = r.begin; i < r.end; ++i) {
      for (int64_t j = c.begin; j < c.end; ++j) f(i * columns + j);
    }
  }
};

}  // namespace tenon::cpu
