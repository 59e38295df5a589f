// The inner loop of transposes: one function per element size and instruction set.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// Computes to[c][r] = from[r][c] for r < rows and c < columns. Lines are from_line and to_line
// bytes apart; the elements of a line are contiguous. `far` permits stores that bypass the caches:
// the whole result is too large for a reader to find it there.
using TransposeTile = void (*)(const char* from, int64_t from_line, char* to, int64_t to_line,
                               int64_t rows, int64_t columns, bool far);

// Returns the loop for elements of 1, 2, 4, 8 or 16 bytes; null for any other size.
TransposeTile FindTransposeTile(int64_t element_bytes);

}  // namespace tenon::cpu
