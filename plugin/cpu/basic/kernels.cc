// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable BasicKernels();  // Const, Identity, Shape: what needs no arithmetic

namespace tables {

KernelTables Basic() {
  static const KernelTable tables[] = {BasicKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
