// Every table of kernels.
#include <vector>

#include "plugin/cpu/base/kernel_tables.h"

namespace tenon {
namespace cpu::tables {

// A folder of kernels lists its own in kernels.cc.
KernelTables Arrays(), Basic(), Containers(), ControlFlow(), Distribution(), Elementwise(), Files(),
    Image(), Linalg(), Nn(), Preprocess(), Quantize(), Random(), Reduction(), Selection(), Sparse(),
    Strings(), Summary(), Training(), Variables();

std::vector<KernelTable> All() {
  std::vector<KernelTable> all;
  for (const KernelTables tables :
       {Arrays(),      Basic(),    Containers(), ControlFlow(), Distribution(),
        Elementwise(), Files(),    Image(),      Linalg(),      Nn(),
        Preprocess(),  Quantize(), Random(),     Reduction(),   Selection(),
        Sparse(),      Strings(),  Summary(),    Training(),    Variables()}) {
    all.insert(all.end(), tables.begin(), tables.end());
  }
  return all;
}

}  // namespace cpu::tables

absl::Span<const cpu::KernelTable> CpuKernels() {
  static const std::vector<cpu::KernelTable> all = cpu::tables::All();
  return all;
}

}  // namespace tenon
