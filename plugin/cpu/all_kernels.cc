#include "plugin/cpu/families.h"
#include "plugin/kernel.h"

namespace tenon {

absl::Span<const absl::Span<const CpuKernelSpec>> CpuKernels() {
  static const absl::Span<const CpuKernelSpec> families[] = {
      cpu::BasicKernels(),
  };
  return families;
}

}  // namespace tenon
