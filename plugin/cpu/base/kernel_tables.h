// How kernels are listed: a source has a table, a folder of kernels the tables of its sources.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

using KernelTable = absl::Span<const CpuKernelSpec>;
using KernelTables = absl::Span<const KernelTable>;

}  // namespace tenon::cpu
