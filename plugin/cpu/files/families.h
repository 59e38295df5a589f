// The tables of what reads and writes files.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

absl::Span<const CpuKernelSpec> CheckpointKernels();  // RestoreV2, SaveV2, MergeV2Checkpoints
absl::Span<const CpuKernelSpec> WholeFileKernels();   // ReadFile, WriteFile, MatchingFiles
absl::Span<const CpuKernelSpec> ShardNameKernels();   // ShardedFilename, ShardedFilespec
absl::Span<const CpuKernelSpec> VocabularyKernels();  // InitializeTableFromTextFileV2

}  // namespace tenon::cpu
