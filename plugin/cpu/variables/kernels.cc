// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable VariableKernels();           // Variable, Assign, ReadVariableOp
KernelTable VariablePartKernels();       // ScatterAdd, ResourceGather
KernelTable AssignSliceKernels();        // StridedSliceAssign
KernelTable MutexKernels();              // MutexLock
KernelTable TemporaryVariableKernels();  // DestroyTemporaryVariable

namespace tables {

KernelTables Variables() {
  static const KernelTable tables[] = {VariableKernels(), VariablePartKernels(),
                                       AssignSliceKernels(), MutexKernels(),
                                       TemporaryVariableKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
