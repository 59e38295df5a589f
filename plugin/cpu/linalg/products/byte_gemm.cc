// The choice of byte_gemm_isa.inc's copy for this processor.
#include "plugin/cpu/linalg/products/byte_gemm.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {
namespace {

// Leaf 7 of cpuid; g++ 12 has no names for these.
bool HasLeaf7(unsigned subleaf, unsigned eax_bits, unsigned edx_bits) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || eax < subleaf) return false;
  __cpuid_count(7, subleaf, eax, ebx, ecx, edx);
  return (eax & eax_bits) == eax_bits && (edx & edx_bits) == edx_bits;
}
bool HasAvxVnni() { return HasLeaf7(1, 1u << 4, 0); }

// The kernel saves tiles only for processes that have asked for it.
bool HasAmx() {
  constexpr unsigned kTile = 1u << 24, kInt8 = 1u << 25;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return HasLeaf7(0, 0, kTile | kInt8) &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

const ByteGemm& Choose() {
  const Isa isa = CpuIsa();
  const ByteGemm* plain =
      SelectIsa<const ByteGemm*>(&sse2::kByteGemm, &avx2::kByteGemm, &avx512::kByteGemm);
  return IsaIsLimited() || isa == Isa::kSse2 ? *plain : *AllByteGemms().back();
}

}  // namespace

std::vector<const ByteGemm*> AllByteGemms() {
  __builtin_cpu_init();
  std::vector<const ByteGemm*> all = {&sse2::kByteGemm};
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c"))
    return all;
  all.push_back(&avx2::kByteGemm);
  if (HasAvxVnni()) all.push_back(&avx2_vnni::kByteGemm);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return all;
  // Without VNNI a vector of 64 bytes does no more than AVX2's instruction for bytes.
  all.insert(all.begin() + 2, &avx512::kByteGemm);
  if (!__builtin_cpu_supports("avx512vnni")) return all;
  all.push_back(&avx512_vnni::kByteGemm);
  if (HasAmx()) all.push_back(&amx::kByteGemm);
  return all;
}

const ByteGemm& ChooseByteGemm() {
  static const ByteGemm& gemm = Choose();
  return gemm;
}

}  // namespace tenon::cpu
