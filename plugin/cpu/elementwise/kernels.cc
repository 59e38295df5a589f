// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable ElementwiseKernels();
KernelTable ComplexKernels();        // Complex, Real, Conj
KernelTable CompositionKernels();    // _UnaryOpsComposition
KernelTable StringElementKernels();  // Equal, Add, Select of strings
KernelTable CheckNumericsKernels();

namespace tables {

KernelTables Elementwise() {
  static const KernelTable tables[] = {ElementwiseKernels(), ComplexKernels(), CompositionKernels(),
                                       StringElementKernels(), CheckNumericsKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
