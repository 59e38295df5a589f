#include <immintrin.h>

#include "plugin/cpu/small_gemm.h"

namespace tenon::cpu::avx2 {
namespace {

using Vec = __m256;
constexpr int kWidth = 8;

inline __m256i Mask(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec Load(const float* p) { return _mm256_loadu_ps(p); }
inline void Store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline Vec LoadPart(const float* p, int count) { return _mm256_maskload_ps(p, Mask(count)); }
inline void StorePart(float* p, Vec v, int count) { _mm256_maskstore_ps(p, Mask(count), v); }
inline Vec Set(float x) { return _mm256_set1_ps(x); }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec Max(Vec x, Vec y) { return _mm256_max_ps(x, y); }
inline Vec Min(Vec x, Vec y) { return _mm256_min_ps(x, y); }

}  // namespace
#include "plugin/cpu/small_gemm_impl.inc"
}  // namespace tenon::cpu::avx2
