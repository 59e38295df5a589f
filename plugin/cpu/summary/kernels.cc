// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable SummaryKernels();  // ScalarSummary, MergeSummary
KernelTable HistogramSummaryKernels();
KernelTable MediaSummaryKernels();  // ImageSummary, AudioSummary

namespace tables {

KernelTables Summary() {
  static const KernelTable tables[] = {SummaryKernels(), HistogramSummaryKernels(),
                                       MediaSummaryKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
