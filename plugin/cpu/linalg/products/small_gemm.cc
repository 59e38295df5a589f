// The choice of small_gemm_isa.inc's copy for this processor.
#include "plugin/cpu/linalg/products/small_gemm.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {

SmallGemmFn ChooseSmallGemm() {
  return SelectIsa<SmallGemmFn>(&sse2::MultiplySmall, &avx2::MultiplySmall, &avx512::MultiplySmall);
}

}  // namespace tenon::cpu
