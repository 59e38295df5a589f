// The choice of packed_gemm_isa.inc's copy for this processor.
#include "plugin/cpu/linalg/products/packed_gemm.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {
namespace {

const PackedGemms& ChosenGemms() {
  return *SelectIsa<const PackedGemms*>(&sse2::kPackedGemms, &avx2::kPackedGemms,
                                        &avx512::kPackedGemms);
}

}  // namespace

template <>
const PackedGemm<float>& ChoosePackedGemm<float>() {
  return ChosenGemms().f32;
}
template <>
const PackedGemm<double>& ChoosePackedGemm<double>() {
  return ChosenGemms().f64;
}
template <>
const PackedGemm<uint32_t>& ChoosePackedGemm<uint32_t>() {
  return ChosenGemms().u32;
}
template <>
const PackedGemm<uint64_t>& ChoosePackedGemm<uint64_t>() {
  return ChosenGemms().u64;
}

}  // namespace tenon::cpu
