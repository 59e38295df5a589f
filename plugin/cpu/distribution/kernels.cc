// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable DebugKernels();          // DebugIdentity, DebugNumericSummary
KernelTable SessionTensorKernels();  // GetSessionHandle

namespace tables {

KernelTables Distribution() {
  static const KernelTable tables[] = {DebugKernels(), SessionTensorKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
