// Kernels of ops of our own, which the optimizer recognizes.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

absl::Span<const CpuKernelSpec> LayerNormKernels();    // _TenonLayerNorm
absl::Span<const CpuKernelSpec> AttentionKernels();    // _TenonAttention
absl::Span<const CpuKernelSpec> ProjectionsKernels();  // _TenonProjections

}  // namespace tenon::cpu
