// Checkpoints and files.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"MatchingFiles", "pattern: string", "filenames: string", "", nullptr},
    {"MergeV2Checkpoints", "checkpoint_prefixes: string; destination_prefix: string", "",
     "delete_old_dirs: bool = true; allow_missing_files: bool = false", nullptr, kStateful},
    {"ReadFile", "filename: string", "contents: string", "", nullptr},
    {"Restore", "file_pattern: string; tensor_name: string", "tensor: dt",
     "dt: type; preferred_shard: int = -1", nullptr, kStateful},
    {"RestoreSlice", "file_pattern: string; tensor_name: string; shape_and_slice: string",
     "tensor: dt", "dt: type; preferred_shard: int = -1", nullptr, kStateful},
    {"RestoreV2", "prefix: string; tensor_names: string; shape_and_slices: string",
     "tensors: dtypes", "dtypes: list(type)", nullptr, kStateful},
    {"Save", "filename: string; tensor_names: string; data: T", "", "T: list(type)", nullptr,
     kStateful},
    {"SaveSlices", "filename: string; tensor_names: string; shapes_and_slices: string; data: T", "",
     "T: list(type)", nullptr, kStateful},
    {"SaveV2", "prefix: string; tensor_names: string; shape_and_slices: string; tensors: dtypes",
     "", "dtypes: list(type)", nullptr, kStateful},
    {"ShardedFilename", "basename: string; shard: int32; num_shards: int32", "filename: string", "",
     nullptr},
    {"ShardedFilespec", "basename: string; num_shards: int32", "filename: string", "", nullptr},
    {"WriteFile", "filename: string; contents: string", "", "", nullptr, kStateful},
};

}  // namespace

absl::Span<const OpSpec> Files() { return kOps; }

}  // namespace tenon::ops
