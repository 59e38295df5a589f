#include "plugin/cpu/linalg/coded/quantized_loops.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {

const QuantizedLoops& ChooseQuantizedLoops() {
  return *SelectIsa<const QuantizedLoops*>(&sse2::kQuantizedLoops, &avx2::kQuantizedLoops,
                                           &avx512::kQuantizedLoops);
}

}  // namespace tenon::cpu
