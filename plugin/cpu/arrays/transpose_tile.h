// The inner loop of transposes: one function per element size and instruction set.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// Computes to[c][r] = from[r][c] for r < rows and c < columns. Source rows are from_line bytes
// apart, destination rows to_line bytes; the elements of a row are contiguous. `far` permits stores
// that bypass the caches, for results so large that a reader would not find them in the caches.
// Source and destination must not overlap.
using TransposeTile = void (*)(const char* from, int64_t from_line, char* to, int64_t to_line,
                               int64_t rows, int64_t columns, bool far);

// Returns the loop for elements of 1, 2, 4, 8 or 16 bytes; null for any other size.
TransposeTile FindTransposeTile(int64_t element_bytes);

}  // namespace tenon::cpu
