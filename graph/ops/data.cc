// Data sets and iterators.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kDataOps[] = {
    {"AnonymousIterator", "", "handle: resource",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1", RankRule<"-> []">,
     kStateful},
    {"AnonymousIteratorV2", "", "handle: resource; deleter: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1", RankRule<"-> [] []">,
     kStateful},
    {"AnonymousIteratorV3", "", "handle: resource",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1", RankRule<"-> []">,
     kStateful},
    {"BatchDataset", "input_dataset: variant; batch_size: int64", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"BatchDatasetV2", "input_dataset: variant; batch_size: int64; drop_remainder: bool",
     "handle: variant",
     "parallel_copy: bool = false; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 -> []">},
    {"CacheDataset", "input_dataset: variant; filename: string", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"CacheDatasetV2", "input_dataset: variant; filename: string; cache: resource",
     "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 -> []">, kStateful},
    {"ConcatenateDataset", "input_dataset: variant; another_dataset: variant", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"-> []">},
    {"DeleteIterator", "handle: resource; deleter: variant", "", "", nullptr, kStateful},
    {"FilterDataset", "input_dataset: variant; other_arguments: Targuments", "handle: variant",
     "predicate: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape},
    {"FinalizeDataset", "input_dataset: variant", "handle: variant",
     "has_captured_ref: bool = false; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1",
     RankRule<"-> []">},
    {"FixedLengthRecordDataset",
     "filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: int64; "
     "buffer_size: int64",
     "handle: variant", "metadata: string = ''", RankRule<"1- 0 0 0 0 -> []">, kStateful},
    {"FixedLengthRecordDatasetV2",
     "filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: int64; "
     "buffer_size: int64; compression_type: string",
     "handle: variant", "metadata: string = ''", RankRule<"1- 0 0 0 0 -> []">, kStateful},
    {"FlatMapDataset", "input_dataset: variant; other_arguments: Targuments", "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape},
    {"GeneratorDataset",
     "init_func_other_args: Tinit_func_args; next_func_other_args: Tnext_func_args; "
     "finalize_func_other_args: Tfinalize_func_args",
     "handle: variant",
     "init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0; "
     "Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape, kStateful},
    {"InterleaveDataset",
     "input_dataset: variant; other_arguments: Targuments; cycle_length: int64; "
     "block_length: int64",
     "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape},
    {"Iterator", "", "handle: resource",
     "shared_name: string; container: string; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1",
     RankRule<"-> []">, kStateful},
    {"IteratorFromStringHandle", "string_handle: string", "resource_handle: resource",
     "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []", RankRule<"-> []">,
     kStateful},
    {"IteratorFromStringHandleV2", "string_handle: string", "resource_handle: resource",
     "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []", RankRule<"-> []">,
     kStateful},
    {"IteratorGetNext", "iterator: resource", "components: output_types",
     "output_types: list(type); output_shapes: list(shape) >= 1", ComponentsShape, kStateful},
    {"IteratorGetNextAsOptional", "iterator: resource", "optional: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1", RankRule<"-> []">,
     kStateful},
    {"IteratorGetNextSync", "iterator: resource", "components: output_types",
     "output_types: list(type); output_shapes: list(shape) >= 1", ComponentsShape, kStateful},
    {"IteratorToStringHandle", "resource_handle: resource", "string_handle: string", "",
     RankRule<"-> []">, kStateful},
    {"IteratorV2", "", "handle: resource",
     "shared_name: string; container: string; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1",
     ScalarShape, kStateful},
    {"MakeIterator", "dataset: variant; iterator: resource", "", "", nullptr, kStateful},
    {"MapDataset", "input_dataset: variant; other_arguments: Targuments", "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; "
     "preserve_cardinality: bool = false; force_synchronous: bool = false; metadata: string = ''",
     ScalarShape},
    {"ModelDataset", "input_dataset: variant", "handle: variant",
     "algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     RankRule<"-> []">},
    {"OneShotIterator", "", "handle: resource",
     "dataset_factory: func; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "container: string = ''; shared_name: string = ''",
     ScalarShape, kStateful},
    {"OptimizeDataset", "input_dataset: variant; optimizations: string", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "optimization_configs: list(string) = []",
     RankRule<"-> []">},
    {"OptimizeDatasetV2",
     "input_dataset: variant; optimizations_enabled: string; optimizations_disabled: string; "
     "optimizations_default: string",
     "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "optimization_configs: list(string) = []",
     RankRule<"-> []">},
    {"OptionalFromValue", "components: Toutput_types", "optional: variant",
     "Toutput_types: list(type)", RankRule<"-> []">},
    {"OptionalGetValue", "optional: variant", "components: output_types",
     "output_types: list(type); output_shapes: list(shape) >= 1", ComponentsShape},
    {"OptionalHasValue", "optional: variant", "has_value: bool", "", RankRule<"-> []">},
    {"OptionalNone", "", "optional: variant", "", RankRule<"-> []">},
    {"OptionsDataset", "input_dataset: variant", "handle: variant",
     "serialized_options: string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "metadata: string = ''",
     RankRule<"-> []">},
    {"PaddedBatchDataset",
     "input_dataset: variant; batch_size: int64; padded_shapes: N * int64; "
     "padding_values: Toutput_types",
     "handle: variant",
     "Toutput_types: list(type); output_shapes: list(shape) >= 1; N: int; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"PaddedBatchDatasetV2",
     "input_dataset: variant; batch_size: int64; padded_shapes: N * int64; "
     "padding_values: Toutput_types; drop_remainder: bool",
     "handle: variant",
     "parallel_copy: bool = false; Toutput_types: list(type); output_shapes: list(shape) >= 1; "
     "N: int; metadata: string = ''",
     PaddedBatchShape},
    {"ParallelInterleaveDataset",
     "input_dataset: variant; other_arguments: Targuments; cycle_length: int64; "
     "block_length: int64; sloppy: bool; buffer_output_elements: int64; "
     "prefetch_input_elements: int64",
     "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape},
    {"ParallelInterleaveDatasetV2",
     "input_dataset: variant; other_arguments: Targuments; cycle_length: int64; "
     "block_length: int64; num_parallel_calls: int64",
     "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; sloppy: bool = false; metadata: string = ''",
     ScalarShape},
    {"ParallelInterleaveDatasetV3",
     "input_dataset: variant; other_arguments: Targuments; cycle_length: int64; "
     "block_length: int64; num_parallel_calls: int64",
     "handle: variant",
     "f: func; deterministic: string = 'default'; Targuments: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape},
    {"ParallelInterleaveDatasetV4",
     "input_dataset: variant; other_arguments: Targuments; cycle_length: int64; "
     "block_length: int64; buffer_output_elements: int64; prefetch_input_elements: int64; "
     "num_parallel_calls: int64",
     "handle: variant",
     "f: func; deterministic: string = 'default'; Targuments: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     ScalarShape},
    {"ParallelMapDataset",
     "input_dataset: variant; other_arguments: Targuments; num_parallel_calls: int32",
     "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; "
     "sloppy: bool = false; preserve_cardinality: bool = false; metadata: string = ''",
     ScalarShape},
    {"ParallelMapDatasetV2",
     "input_dataset: variant; other_arguments: Targuments; num_parallel_calls: int64",
     "handle: variant",
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; "
     "deterministic: string = 'default'; preserve_cardinality: bool = false; "
     "use_unbounded_threadpool: bool = false; metadata: string = ''",
     ScalarShape},
    {"ParseExampleDatasetV2",
     "input_dataset: variant; num_parallel_calls: int64; dense_defaults: Tdense", "handle: variant",
     "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "
     "sparse_types: list({float, int64, string}) >= 0; "
     "Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "deterministic: string = 'default'; ragged_keys: list(string) >= 0 = []; "
     "ragged_value_types: list({float, int64, string}) >= 0 = []; "
     "ragged_split_types: list({int32, int64}) >= 0 = []",
     ScalarShape},
    {"PrefetchDataset", "input_dataset: variant; buffer_size: int64", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; slack_period: int = 0; "
     "legacy_autotune: bool = true; buffer_size_min: int = 0; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"RangeDataset", "start: int64; stop: int64; step: int64", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; "
     "replicate_on_split: bool = false",
     RankRule<"0 0 0 -> []">, kStateful},
    {"RepeatDataset", "input_dataset: variant; count: int64", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"ShardDataset", "input_dataset: variant; num_shards: int64; index: int64", "handle: variant",
     "require_non_empty: bool = false; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 -> []">},
    {"ShuffleAndRepeatDataset",
     "input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64; count: int64",
     "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "reshuffle_each_iteration: bool = true; metadata: string = ''",
     RankRule<"* 0 0 0 0 -> []">},
    {"ShuffleAndRepeatDatasetV2",
     "input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64; count: int64; "
     "seed_generator: resource",
     "handle: variant",
     "reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 0 0 0 -> []">, kStateful},
    {"ShuffleDataset", "input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64",
     "handle: variant",
     "reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 0 -> []">},
    {"ShuffleDatasetV2", "input_dataset: variant; buffer_size: int64; seed_generator: resource",
     "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 -> []">, kStateful},
    {"ShuffleDatasetV3",
     "input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64; "
     "seed_generator: resource",
     "handle: variant",
     "reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 0 0 -> []">, kStateful},
    {"SkipDataset", "input_dataset: variant; count: int64", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"SparseTensorSliceDataset", "indices: int64; values: Tvalues; dense_shape: int64",
     "handle: variant", "Tvalues: type", RankRule<"-> []">, kStateful},
    {"TFRecordDataset", "filenames: string; compression_type: string; buffer_size: int64",
     "handle: variant", "metadata: string = ''", RankRule<"1- 0 0 -> []">, kStateful},
    {"TFRecordDatasetV2",
     "filenames: string; compression_type: string; buffer_size: int64; byte_offsets: int64",
     "handle: variant", "metadata: string = ''", RankRule<"1- 0 0 1- -> []">, kStateful},
    {"TakeDataset", "input_dataset: variant; count: int64", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 -> []">},
    {"TensorDataset", "components: Toutput_types", "handle: variant",
     "Toutput_types: list(type); output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"-> []">, kStateful},
    {"TensorSliceDataset", "components: Toutput_types", "handle: variant",
     "Toutput_types: list(type); output_shapes: list(shape) >= 1; is_files: bool = false; "
     "metadata: string = ''; replicate_on_split: bool = false",
     RankRule<"-> []">, kStateful},
    {"TextLineDataset", "filenames: string; compression_type: string; buffer_size: int64",
     "handle: variant", "metadata: string = ''", RankRule<"1- 0 0 -> []">, kStateful},
    {"WindowDataset",
     "input_dataset: variant; size: int64; shift: int64; stride: int64; drop_remainder: bool",
     "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     RankRule<"* 0 0 0 0 -> []">},
    {"ZipDataset", "input_datasets: N * variant", "handle: variant",
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int; "
     "metadata: string = ''",
     RankRule<"-> []">},
};

}  // namespace

absl::Span<const OpSpec> Data() { return kDataOps; }

}  // namespace tenon::ops
