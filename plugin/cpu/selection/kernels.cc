// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable GatherKernels();        // Gather, OneHot
KernelTable TopKKernels();          // TopKV2, NthElement
KernelTable WhereKernels();         // Where, Unique, ListDiff
KernelTable StitchKernels();        // DynamicPartition, DynamicStitch, Roll
KernelTable ScatterKernels();       // ScatterNd, TensorScatter*, Inplace*
KernelTable SearchSortedKernels();  // LowerBound, UpperBound

namespace tables {

KernelTables Selection() {
  static const KernelTable tables[] = {GatherKernels(), TopKKernels(),    WhereKernels(),
                                       StitchKernels(), ScatterKernels(), SearchSortedKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
