// The choice of byte_products_isa.inc's copy for this processor.
#include "plugin/cpu/quantize/byte_products.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {

const AllByteProducts& ChooseByteProducts() {
  return *SelectIsa<const AllByteProducts*>(&sse2::kByteProducts, &avx2::kByteProducts,
                                            &avx512::kByteProducts);
}

}  // namespace tenon::cpu
