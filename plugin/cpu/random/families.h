// The tables of random ops that stand beside those of plugin/cpu/families.h.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

absl::Span<const CpuKernelSpec> GeneratorSkipKernels();   // RngSkip, RngReadAndSkip
absl::Span<const CpuKernelSpec> UnigramSamplerKernels();  // FixedUnigramCandidateSampler
absl::Span<const CpuKernelSpec> StochasticCastKernels();  // StochasticCastToInt

}  // namespace tenon::cpu
