#include <immintrin.h>

#include "plugin/cpu/small_gemm.h"

namespace tenon::cpu::avx512 {
namespace {

using Vec = __m512;
constexpr int kWidth = 16;

inline __mmask16 Mask(int count) { return static_cast<__mmask16>((1u << count) - 1); }
inline Vec Load(const float* p) { return _mm512_loadu_ps(p); }
inline void Store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline Vec LoadPart(const float* p, int count) { return _mm512_maskz_loadu_ps(Mask(count), p); }
inline void StorePart(float* p, Vec v, int count) { _mm512_mask_storeu_ps(p, Mask(count), v); }
inline Vec Set(float x) { return _mm512_set1_ps(x); }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec Max(Vec x, Vec y) { return _mm512_max_ps(x, y); }
inline Vec Min(Vec x, Vec y) { return _mm512_min_ps(x, y); }

}  // namespace
#include "plugin/cpu/small_gemm_impl.inc"
}  // namespace tenon::cpu::avx512
