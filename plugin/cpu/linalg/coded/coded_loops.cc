#include "plugin/cpu/linalg/coded/coded_loops.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {

const CodedLoops& ChooseCodedLoops() {
  return *SelectIsa<const CodedLoops*>(&sse2::kCodedLoops, &avx2::kCodedLoops,
                                       &avx512::kCodedLoops);
}

}  // namespace tenon::cpu
