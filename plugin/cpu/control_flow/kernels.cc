// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable AssertKernels();
KernelTable PrintKernels();  // Print, PrintV2, ToBool

namespace tables {

KernelTables ControlFlow() {
  static const KernelTable tables[] = {AssertKernels(), PrintKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
