#include "plugin/cpu/isa.h"

#include <cstdlib>
#include <string_view>

namespace tenon::cpu {
namespace {

Isa Detect() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const char* wish = std::getenv("TENON_CPU_ISA");
  const std::string_view limit = wish == nullptr ? "" : wish;
  if (!avx2 || limit == "sse2") return Isa::kSse2;
  return avx512 && limit != "avx2" ? Isa::kAvx512 : Isa::kAvx2;
}

}  // namespace

Isa CpuIsa() {
  static const Isa isa = Detect();
  return isa;
}

}  // namespace tenon::cpu
