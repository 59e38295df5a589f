// The cells of a fractional pooling: rectangles of rows and columns. Their sizes vary.
#pragma once

#include <cstdint>

#include "plugin/cpu/random/philox.h"

namespace tenon::cpu {

// Divides `in` rows (or columns) into `out` cells at random, 1 <= out <= in. Writes out + 1
// boundaries: the first row of each cell, then `in`. Draws from `philox` and advances it. With
// `pseudo_random` all boundaries follow from one random number, of one block. Else sizes that
// differ by at most 1 are shuffled.
void DrawBoundaries(int64_t in, int64_t out, bool pseudo_random, Philox& philox,
                    int64_t* boundaries);
// Returns the most blocks, of four 32-bit words each, that DrawBoundaries draws for `out` cells.
int64_t BoundaryBlocks(int64_t out);

// A batch of images [rows, columns, channels], each divided into the same cells, out_rows by
// out_columns. The boundaries of rows and of columns are tensors as DrawBoundaries writes them. A
// place is one number within an image: row * columns + column.
struct FractionalCells {
  int64_t batch = 0, rows = 0, columns = 0, channels = 0;  // of the input
  int64_t out_rows = 0, out_columns = 0;
  bool overlapping = false;  // a cell includes the first row and column of the next

  int64_t in_places() const { return rows * columns; }
  int64_t out_places() const { return out_rows * out_columns; }

  struct Range {
    int64_t begin, end;
  };
  // Returns the rows (or columns) of cell i. `boundaries` has one element more than there are
  // cells. `size` is `rows` (or `columns`): the range ends there at the latest. The range's begin
  // is not checked, and the range of bad boundaries may be empty.
  Range RangeAt(const int64_t* boundaries, int64_t i, int64_t size) const {
    const int64_t next = boundaries[i + 1];
    return {boundaries[i], next < size ? next + (overlapping ? 1 : 0) : size};
  }

  // Calls f(input place) for each input place of the cell of output place `out`, row by row.
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
