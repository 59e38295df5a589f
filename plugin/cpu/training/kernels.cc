// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable OptimizerKernels();  // ApplyAdam, ResourceSparseApplyFtrl

namespace tables {

KernelTables Training() {
  static const KernelTable tables[] = {OptimizerKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
