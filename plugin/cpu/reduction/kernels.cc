// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable ReductionKernels();       // Sum, Mean, Max
KernelTable ArgKernels();             // ArgMax, ArgMin
KernelTable ScanKernels();            // Cumsum, Cumprod
KernelTable SegmentKernels();         // SegmentSum, UnsortedSegmentSum
KernelTable HistogramKernels();       // Bincount, Bucketize
KernelTable SparseSegmentKernels();   // SparseSegmentSum, its gradients
KernelTable SparseBincountKernels();  // RaggedBincount, SparseBincount

namespace tables {

KernelTables Reduction() {
  static const KernelTable tables[] = {
      ReductionKernels(), ArgKernels(),           ScanKernels(),          SegmentKernels(),
      HistogramKernels(), SparseSegmentKernels(), SparseBincountKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
