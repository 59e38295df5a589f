#include "plugin/cpu/small_gemm.h"

#include <cstring>

namespace tenon::cpu {
namespace baseline {
namespace {

typedef float Vec __attribute__((vector_size(16)));
constexpr int kWidth = 4;

inline Vec Load(const float* p) {
  Vec v;
  memcpy(&v, p, sizeof(v));
  return v;
}
inline void Store(float* p, Vec v) { memcpy(p, &v, sizeof(v)); }
inline Vec LoadPart(const float* p, int count) {
  Vec v = {};
  memcpy(&v, p, count * sizeof(float));
  return v;
}
inline void StorePart(float* p, Vec v, int count) { memcpy(p, &v, count * sizeof(float)); }
inline Vec Set(float x) { return Vec{x, x, x, x}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return a * b + c; }
inline Vec Max(Vec x, Vec y) { return x > y ? x : y; }
inline Vec Min(Vec x, Vec y) { return x < y ? x : y; }

}  // namespace
#include "plugin/cpu/small_gemm_impl.inc"
}  // namespace baseline

SmallGemmFn ChooseSmallGemm() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    return &avx512::MultiplySmall;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2::MultiplySmall;
  return &baseline::MultiplySmall;
}

}  // namespace tenon::cpu
