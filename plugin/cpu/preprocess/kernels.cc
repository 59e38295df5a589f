// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable WavKernels();
KernelTable CsvKernels();
KernelTable BytesKernels();  // DecodeCompressed, ParseTensor, Fingerprint
KernelTable SobolKernels();
KernelTable ClusteringKernels();  // NearestNeighbors
KernelTable ParseExampleKernels();
KernelTable ParseSequenceExampleKernels();
KernelTable SpectrogramKernels();
KernelTable MfccKernels();

namespace tables {

KernelTables Preprocess() {
  static const KernelTable tables[] = {WavKernels(),
                                       CsvKernels(),
                                       BytesKernels(),
                                       SobolKernels(),
                                       ClusteringKernels(),
                                       ParseExampleKernels(),
                                       ParseSequenceExampleKernels(),
                                       SpectrogramKernels(),
                                       MfccKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
