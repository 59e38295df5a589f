// Reads the processor's features once and lowers them to what TENON_ISA permits.
#include "plugin/cpu/base/isa.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tenon::cpu {
namespace {

// In the order of enum Isa; these are the values of TENON_ISA.
constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};

std::string_view Limit() {
  const char* wish = std::getenv("TENON_ISA");
  return wish == nullptr ? "" : wish;
}

Isa Detect() {
  __builtin_cpu_init();
  // The sources for AVX2 are compiled with FMA and F16C, those for AVX-512 with BW, DQ and VL too.
  // A processor without one of these features would meet an unknown instruction.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const std::string_view limit = Limit();
  if (!avx2 || limit == "baseline") return Isa::kSse2;
  return avx512 && limit != "avx2" ? Isa::kAvx512 : Isa::kAvx2;
}

}  // namespace

Isa CpuIsa() {
  static const Isa isa = Detect();
  return isa;
}

bool IsaIsLimited() { return !Limit().empty(); }

absl::Status CheckIsaVariable() {
  // CpuIsa has no way to report an error: a wrong value is ignored there and refused here.
  const std::string_view limit = Limit();
  if (limit.empty() || std::find(std::begin(kNames), std::end(kNames), limit) != std::end(kNames))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("TENON_ISA is '", limit, "'; it may be ", absl::StrJoin(kNames, ", ")));
}

}  // namespace tenon::cpu
