// The lists of kernels. A source file that has kernels has a KernelTable. A family's kernels.cc has
// KernelTables: the tables of its sources. Both view constants that live as long as the process:
// the kernel registry keeps pointers to them.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {

using KernelTable = absl::Span<const CpuKernelSpec>;
using KernelTables = absl::Span<const KernelTable>;

}  // namespace tenon::cpu
