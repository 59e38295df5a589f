// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable ListKernels();        // TensorListSetItem, TensorListPushBack
KernelTable ListTensorKernels();  // TensorListStack, TensorListFromTensor
KernelTable VariantSumKernels();  // AddN, ZerosLike of variants
KernelTable OptionalKernels();    // OptionalFromValue, OptionalGetValue
KernelTable TensorArrayKernels();
KernelTable StackKernels();
KernelTable TableKernels();  // HashTableV2, LookupTableFindV2
KernelTable QueueKernels();
KernelTable StagingKernels();      // Stage, Unstage
KernelTable StagingMapKernels();   // MapStage, OrderedMapUnstage
KernelTable AccumulatorKernels();  // AccumulatorApplyGradient
KernelTable BarrierKernels();      // BarrierInsertMany
KernelTable TensorMapKernels();    // TensorMapInsert

namespace tables {

KernelTables Containers() {
  static const KernelTable tables[] = {
      ListKernels(),        ListTensorKernels(), VariantSumKernels(),  OptionalKernels(),
      TensorArrayKernels(), StackKernels(),      TableKernels(),       QueueKernels(),
      StagingKernels(),     StagingMapKernels(), AccumulatorKernels(), BarrierKernels(),
      TensorMapKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
