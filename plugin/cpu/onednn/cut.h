// How work of oneDNN is cut into tiles: the rows of a product or the places of a convolution's
// output, and its columns or output channels. The choice may depend on the number of threads, so it
// is only for primitives whose sums have one order whatever the size of a tile (tiles.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/cpu/onednn/onednn.h"

namespace tenon::cpu {

// One way to cut the rows.
struct RowCut {
  int64_t pieces;  // how many there are
  int64_t rows;    // of the largest piece
};

// What is to be cut: an output of rows by columns, each element a sum of `terms` products.
struct CutProblem {
  int threads;
  int64_t rows, columns, terms;
  // Bytes that computing all rows of one column reads of the left side (the images), and all
  // columns of one row of the right side (the filter).
  double row_bytes, column_bytes;
  // The first entry is the uncut one: {1, rows}.
  std::vector<RowCut> row_cuts;
  // Columns are cut at multiples of this, if at all. 0: they are not cut.
  int64_t block;
};

struct Cut {
  size_t row_cut;   // index of CutProblem::row_cuts
  int64_t columns;  // of a tile; the last tile may have more or fewer
};

// Returns some cuts to try one after the other. First come up to six, the best first, by an
// estimate of the time that `threads` threads take. Then come the best cut of rows alone, the best
// cut of columns alone, and last the uncut output; these may repeat earlier ones. A cut makes at
// most 64 tiles. With one thread the list has only the uncut output.
std::vector<Cut> BestCuts(const CutProblem& problem);

// Returns the width of the tile that begins at column `begin`, of `columns` that are cut into tiles
// of `width` at multiples of `block`. The last tile takes what is left over behind the last whole
// block.
int64_t WidthAt(int64_t begin, int64_t columns, int64_t width, int64_t block);

// Returns how many output channels a packed filter keeps together if every range of such blocks is
// one piece of the filter's memory; 0 if there is none. `filter` has the output channels as its
// first dimension. Only inside Guarded().
int64_t ChannelBlockOf(const MemoryDesc& filter);
// Returns the block to cut `channels` output channels at, where oneDNN likes to pack all of them in
// blocks of `whole`: the first of `whole`, 64, 48, 32 and 16 that leaves nothing over, or else
// `whole`. 0 if `whole` is 0.
int64_t BlockToCutAt(int64_t channels, int64_t whole);

// Returns the layout of a filter of `channels` output channels that is packed as `filter`, whose
// ChannelBlockOf() is not 0. `channels` may be fewer than the filter's (a slice of it) or more.
MemoryDesc WithChannels(const MemoryDesc& filter, int64_t channels);
// Returns where channel `first`, the first of a block, begins in the filter's memory, in bytes.
int64_t ChannelOffset(const MemoryDesc& filter, int64_t first);

}  // namespace tenon::cpu
