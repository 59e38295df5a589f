// The inner loops of products of bytes: rows of the left side by panels of the right side, summed
// in 32 bits.
//
// The left side's values are unsigned bytes and the right side's are signed ones, whatever the
// operands' types are: a byte of the other kind is stored with its highest bit flipped, which moves
// its number by 128. The zero points of `correct` take that back. So one loop does for all types,
// and it is the one that processors have an instruction for.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::cpu {

// The loops for one instruction set. The caller owns all memory, at any alignment.
struct ByteGemm {
  const char* name;
  int element;  // bytes of one value of a packed row or panel: 1 or 2
  // Terms of a sum that stand side by side in a panel. Packed rows have a multiple of them; the
  // ones behind the last are 0.
  int group;
  int columns;  // of a panel

  // Writes `count` values of a packed row, each of a byte whose bits in `flip` are flipped.
  void (*pack_row)(const uint8_t* from, int64_t count, uint8_t flip, void* to);
  // Packs columns [0, n) of a matrix b[p * row + j * column] with k rows as a panel. n is at most
  // `columns`; the panel's other columns are 0. A panel takes `columns` values for each row,
  // rounded up to a multiple of `group`.
  void (*pack_panel)(const uint8_t* b, int64_t row, int64_t column, int64_t k, int n, uint8_t flip,
                     void* to);
  // Adds the columns' numbers, as a panel has them, to n sums.
  void (*sum_columns)(const uint8_t* b, int64_t row, int64_t column, int64_t k, int64_t n,
                      uint8_t flip, int32_t* sums);
  // Returns the sum of a packed row.
  int32_t (*sum_row)(const void* row, int64_t count);
  // Sets c[i * c_row + j] to the sum of k terms a[i * a_row + p] * b[p][j], or adds the sum to it,
  // for i < m and j < n. Sums wrap around. `a_row` is in bytes, k a multiple of `group`, n at most
  // `columns`. Reads no byte of `a` but those of its rows.
  void (*multiply)(int64_t k, const void* a, int64_t a_row, const void* panel, int64_t m, int n,
                   int32_t* c, int64_t c_row, bool add);
  // Subtracts zero * column_sums[j] + zeros[j * step] * rest from n sums. `step` is 0 or 1. Results
  // wrap around.
  void (*correct)(int64_t n, int32_t zero, const int32_t* column_sums, const int32_t* zeros,
                  int64_t step, int32_t rest, int32_t* sums);
};

// Returns the loops for this processor. TENON_ISA limits them as it does oneDNN: AVX2 and AVX-512
// are then used without the instructions for bytes that later processors have. Thread-safe.
const ByteGemm& ChooseByteGemm();
// Returns the loops of every set that this processor has, whatever TENON_ISA says. The last are
// those that ChooseByteGemm() prefers. For tests.
std::vector<const ByteGemm*> AllByteGemms();

// AVX2 and AVX-512 with VNNI have an instruction that sums four products of bytes; AMX multiplies
// tiles.
namespace sse2 {
extern const ByteGemm kByteGemm;
}
namespace avx2 {
extern const ByteGemm kByteGemm;
}
namespace avx2_vnni {
extern const ByteGemm kByteGemm;
}
namespace avx512 {
extern const ByteGemm kByteGemm;
}
namespace avx512_vnni {
extern const ByteGemm kByteGemm;
}
namespace amx {
extern const ByteGemm kByteGemm;
}

}  // namespace tenon::cpu
