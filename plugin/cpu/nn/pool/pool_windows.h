// The inner loops of poolings of floating-point elements with channels last: one window.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// The caller owns all memory. No alignment is required.
struct PoolWindow {
  const void* in;  // the channels of the window's first place
  void* out;       // as many channels
  int64_t channels;
  // The window's places inside the input, at least one, and the bytes from one to the next.
  int64_t planes, rows, columns;
  int64_t plane_bytes, row_bytes, column_bytes;
  double least;  // what a maximum starts from
};

// Each computes in the calling thread. A maximum ignores NaN. A mean is the sum, in the order of
// the places, over their number. Of half and bfloat16 both are computed in float, and rounded once.
using PoolLoop = void (*)(const PoolWindow& w);
struct PoolLoops {
  PoolLoop max, mean;
};
struct AllPoolLoops {
  PoolLoops floats, doubles, halves, bfloat16s;
};

// One copy per instruction set; select by SelectIsa.
namespace sse2 {
extern const AllPoolLoops kPoolLoops;
}
namespace avx2 {
extern const AllPoolLoops kPoolLoops;
}
namespace avx512 {
extern const AllPoolLoops kPoolLoops;
}

}  // namespace tenon::cpu
