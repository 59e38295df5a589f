// The inner loop of transposes.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// to[c][r] = from[r][c] for r < rows, c < columns; lines are from_line and to_line bytes apart,
// elements lie close together. `far` says that the result is too large to be read from the caches:
// it may be written past them.
using TransposeTile = void (*)(const char* from, int64_t from_line, char* to, int64_t to_line,
                               int64_t rows, int64_t columns, bool far);

// For elements of 1, 2, 4, 8 or 16 bytes; null for others.
TransposeTile FindTransposeTile(int64_t element_bytes);

}  // namespace tenon::cpu
