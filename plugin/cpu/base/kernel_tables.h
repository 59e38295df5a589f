// The lists of kernels. Each source file has a KernelTable. Each folder has KernelTables: the
// tables of its sources.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

using KernelTable = absl::Span<const CpuKernelSpec>;
using KernelTables = absl::Span<const KernelTable>;

}  // namespace tenon::cpu
