// The inner loop of FakeQuant ops.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// A range whose ends are whole numbers of steps from 0.
struct FakeQuantRange {
  float min, max, step;
};

// out[i] is in[i], limited to the range and rounded to a step from its minimum, halves up. Steps
// are counted by a division or, with `multiplies`, by the step's inverse; no operation is
// contracted. `in` may be `out`.
using FakeQuantLoop = void (*)(const float* in, int64_t n, const FakeQuantRange& range,
                               bool multiplies, float* out);

// One copy per instruction set; select by SelectIsa.
namespace sse2 {
void RoundToSteps(const float* in, int64_t n, const FakeQuantRange& range, bool multiplies,
                  float* out);
}
namespace avx2 {
void RoundToSteps(const float* in, int64_t n, const FakeQuantRange& range, bool multiplies,
                  float* out);
}
namespace avx512 {
void RoundToSteps(const float* in, int64_t n, const FakeQuantRange& range, bool multiplies,
                  float* out);
}

}  // namespace tenon::cpu
