// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable CheckpointKernels();  // RestoreV2, SaveV2, MergeV2Checkpoints
KernelTable WholeFileKernels();   // ReadFile, WriteFile, MatchingFiles
KernelTable ShardNameKernels();   // ShardedFilename, ShardedFilespec
KernelTable VocabularyKernels();  // InitializeTableFromTextFileV2

namespace tables {

KernelTables Files() {
  static const KernelTable tables[] = {CheckpointKernels(), WholeFileKernels(), ShardNameKernels(),
                                       VocabularyKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
