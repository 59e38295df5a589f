// Decoding of files and records, sampling, in-place updates.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kPreprocessOps[] = {
    {"AudioSpectrogram", "input: float", "spectrogram: float",
     "window_size: int; stride: int; magnitude_squared: bool = false", AudioSpectrogramShape},
    {"BatchNormWithGlobalNormalization",
     "t: T; m: T; v: T; beta: T; gamma: T",
     "result: T",
     "T: numbertype; variance_epsilon: float; scale_after_normalization: bool",
     BatchNormGlobalShape,
     kPure,
     {},
     9,
     "Use tf.nn.batch_normalization()"},
    {"DecodeBmp", "contents: string", "image: uint8", "channels: int = 0", DecodeImageShape},
    {"DecodeCSV", "records: string; record_defaults: OUT_TYPE", "output: OUT_TYPE",
     "OUT_TYPE: list({float, double, int32, int64, string}); field_delim: string = ','; "
     "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
     DecodeCSVShape},
    {"DecodeCompressed", "bytes: string", "output: string", "compression_type: string = ''",
     UnchangedShape},
    {"DecodeJSONExample", "json_examples: string", "binary_examples: string", "",
     RankRule<"-> =0">},
    {"DecodePng", "contents: string", "image: dtype",
     "channels: int = 0; dtype: {uint8, uint16} = DT_UINT8", DecodeImageShape, kPure,
     OpFacts{.cost = {CostRule::kElements, 500}}},
    {"DecodeProtoV2", "bytes: string", "sizes: int32; values: output_types",
     "message_type: string; field_names: list(string); output_types: list(type) >= 0; "
     "descriptor_source: string = 'local://'; message_format: string = 'binary'; "
     "sanitize: bool = false",
     DecodeProtoShape},
    {"DecodeWav", "contents: string", "audio: float; sample_rate: int32",
     "desired_channels: int = -1; desired_samples: int = -1", DecodeWavShape},
    {"DenseToDenseSetOperation", "set1: T; set2: T",
     "result_indices: int64; result_values: T; result_shape: int64",
     "set_operation: string; validate_indices: bool = true; "
     "T: {int8, int16, int32, int64, uint8, uint16, string}",
     DenseSetOperationShape},
    {"Empty", "shape: int32", "output: dtype", "dtype: type; init: bool = false", ShapeInputShape,
     kStateful},
    {"EncodePng", "image: T", "contents: string",
     "compression: int = -1; T: {uint8, uint16} = DT_UINT8", EncodePngShape, kPure,
     OpFacts{.cost = {CostRule::kElements, 500}}},
    {"EncodeProto", "sizes: int32; values: Tinput_types", "bytes: string",
     "field_names: list(string); message_type: string; descriptor_source: string = 'local://'; "
     "Tinput_types: list(type)",
     EncodeProtoShape},
    {"EncodeWav", "audio: float; sample_rate: int32", "contents: string", "", EncodeWavShape},
    {"ExtractGlimpse", "input: float; size: int32; offsets: float", "glimpse: float",
     "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; "
     "noise: string = 'uniform'",
     ExtractGlimpseShape},
    {"ExtractGlimpseV2", "input: float; size: int32; offsets: float", "glimpse: float",
     "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; "
     "noise: string = 'uniform'",
     ExtractGlimpseShape},
    {"Fingerprint", "data: T; method: string", "fingerprint: uint8", "T: type", FingerprintShape},
    {"FusedPadConv2D", "input: T; paddings: int32; filter: T", "output: T",
     "T: {half, bfloat16, float, double}; mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); "
     "padding: {'SAME', 'VALID'}",
     FusedPadConv2DShape, kPure,
     OpFacts{.precision = Precision::kAllow, .cost = {CostRule::kWindow}}},
    {"FusedResizeAndPadConv2D", "input: T; size: int32; paddings: int32; filter: T", "output: T",
     "T: {half, float, double}; resize_align_corners: bool = false; "
     "mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); padding: {'SAME', 'VALID'}",
     FusedResizeAndPadConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"GenerateVocabRemapping", "new_vocab_file: string; old_vocab_file: string",
     "remapping: int64; num_present: int32",
     "new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1",
     RankRule<"0 0 -> [#num_new_vocab] []">},
    {"InplaceAdd", "x: T; i: int32; v: T", "y: T", "T: type", UnchangedShape},
    {"InplaceSub", "x: T; i: int32; v: T", "y: T", "T: type", UnchangedShape},
    {"InplaceUpdate", "x: T; i: int32; v: T", "y: T", "T: type", UnchangedShape},
    {"KMC2ChainInitialization", "distances: float; seed: int64", "index: int64", "", ScalarShape},
    {"KmeansPlusPlusInitialization",
     "points: float; num_to_sample: int64; seed: int64; num_retries_per_sample: int64",
     "samples: float", "", nullptr},
    {"LoadAndRemapMatrix",
     "ckpt_path: string; old_tensor_name: string; row_remapping: int64; col_remapping: int64; "
     "initializing_values: float",
     "output_matrix: float", "num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1",
     RankRule<"* 0 -> [#num_rows,#num_cols]">, kStateful},
    {"LogUniformCandidateSampler", "true_classes: int64",
     "sampled_candidates: int64; true_expected_count: float; sampled_expected_count: float",
     "num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; "
     "seed: int = 0; seed2: int = 0",
     CandidateSamplerShape, kStateful},
    {"Mfcc", "spectrogram: float; sample_rate: int32", "output: float",
     "upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; "
     "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
     MfccShape},
    {"NearestNeighbors", "points: float; centers: float; k: int64",
     "nearest_center_indices: int64; nearest_center_distances: float", "", nullptr},
    {"ParseExample",
     "serialized: string; names: string; sparse_keys: Nsparse * string; "
     "dense_keys: Ndense * string; dense_defaults: Tdense",
     "sparse_indices: Nsparse * int64; sparse_values: sparse_types; "
     "sparse_shapes: Nsparse * int64; dense_values: Tdense",
     "Nsparse: int >= 0; Ndense: int >= 0; sparse_types: list({float, int64, string}) >= 0; "
     "Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0",
     ParseExampleShape},
    {"ParseExampleV2",
     "serialized: string; names: string; sparse_keys: string; dense_keys: string; "
     "ragged_keys: string; dense_defaults: Tdense",
     "sparse_indices: num_sparse * int64; sparse_values: sparse_types; "
     "sparse_shapes: num_sparse * int64; dense_values: Tdense; ragged_values: ragged_value_types; "
     "ragged_row_splits: ragged_split_types",
     "Tdense: list({float, int64, string}) >= 0; num_sparse: int >= 0; "
     "sparse_types: list({float, int64, string}) >= 0; "
     "ragged_value_types: list({float, int64, string}) >= 0; "
     "ragged_split_types: list({int32, int64}) >= 0; dense_shapes: list(shape) >= 0",
     ParseExampleV2Shape},
    {"ParseSequenceExample",
     "serialized: string; debug_name: string; context_dense_defaults: Tcontext_dense",
     "context_sparse_indices: Ncontext_sparse * int64; "
     "context_sparse_values: context_sparse_types; "
     "context_sparse_shapes: Ncontext_sparse * int64; context_dense_values: Tcontext_dense; "
     "feature_list_sparse_indices: Nfeature_list_sparse * int64; "
     "feature_list_sparse_values: feature_list_sparse_types; "
     "feature_list_sparse_shapes: Nfeature_list_sparse * int64; "
     "feature_list_dense_values: feature_list_dense_types; "
     "feature_list_dense_lengths: Nfeature_list_dense * int64",
     "feature_list_dense_missing_assumed_empty: list(string) >= 0; "
     "context_sparse_keys: list(string) >= 0; context_dense_keys: list(string) >= 0; "
     "feature_list_sparse_keys: list(string) >= 0; feature_list_dense_keys: list(string) >= 0; "
     "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; "
     "Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; "
     "context_sparse_types: list({float, int64, string}) >= 0 = []; "
     "Tcontext_dense: list({float, int64, string}) >= 0 = []; "
     "feature_list_dense_types: list({float, int64, string}) >= 0 = []; "
     "context_dense_shapes: list(shape) >= 0 = []; "
     "feature_list_sparse_types: list({float, int64, string}) >= 0 = []; "
     "feature_list_dense_shapes: list(shape) >= 0 = []",
     ParseSequenceExampleShape},
    {"ParseSequenceExampleV2",
     "serialized: string; debug_name: string; context_sparse_keys: string; "
     "context_dense_keys: string; context_ragged_keys: string; feature_list_sparse_keys: string; "
     "feature_list_dense_keys: string; feature_list_ragged_keys: string; "
     "feature_list_dense_missing_assumed_empty: bool; context_dense_defaults: Tcontext_dense",
     "context_sparse_indices: Ncontext_sparse * int64; "
     "context_sparse_values: context_sparse_types; "
     "context_sparse_shapes: Ncontext_sparse * int64; context_dense_values: Tcontext_dense; "
     "context_ragged_values: context_ragged_value_types; "
     "context_ragged_row_splits: context_ragged_split_types; "
     "feature_list_sparse_indices: Nfeature_list_sparse * int64; "
     "feature_list_sparse_values: feature_list_sparse_types; "
     "feature_list_sparse_shapes: Nfeature_list_sparse * int64; "
     "feature_list_dense_values: feature_list_dense_types; "
     "feature_list_dense_lengths: Nfeature_list_dense * int64; "
     "feature_list_ragged_values: feature_list_ragged_value_types; "
     "feature_list_ragged_outer_splits: feature_list_ragged_split_types; "
     "feature_list_ragged_inner_splits: feature_list_ragged_split_types",
     "Ncontext_sparse: int >= 0 = 0; Tcontext_dense: list({float, int64, string}) >= 0 = []; "
     "context_sparse_types: list({float, int64, string}) >= 0 = []; "
     "context_ragged_value_types: list({float, int64, string}) >= 0 = []; "
     "context_ragged_split_types: list({int32, int64}) >= 0 = []; "
     "context_dense_shapes: list(shape) >= 0 = []; Nfeature_list_sparse: int >= 0 = 0; "
     "Nfeature_list_dense: int >= 0 = 0; "
     "feature_list_dense_types: list({float, int64, string}) >= 0 = []; "
     "feature_list_sparse_types: list({float, int64, string}) >= 0 = []; "
     "feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []; "
     "feature_list_ragged_split_types: list({int32, int64}) >= 0 = []; "
     "feature_list_dense_shapes: list(shape) >= 0 = []",
     ParseSequenceExampleV2Shape},
    {"ParseSingleExample", "serialized: string; dense_defaults: Tdense",
     "sparse_indices: num_sparse * int64; sparse_values: sparse_types; "
     "sparse_shapes: num_sparse * int64; dense_values: Tdense",
     "num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "
     "sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; "
     "dense_shapes: list(shape) >= 0",
     ParseSingleExampleShape},
    {"ParseSingleSequenceExample",
     "serialized: string; feature_list_dense_missing_assumed_empty: string; "
     "context_sparse_keys: Ncontext_sparse * string; context_dense_keys: Ncontext_dense * string; "
     "feature_list_sparse_keys: Nfeature_list_sparse * string; "
     "feature_list_dense_keys: Nfeature_list_dense * string; "
     "context_dense_defaults: Tcontext_dense; debug_name: string",
     "context_sparse_indices: Ncontext_sparse * int64; "
     "context_sparse_values: context_sparse_types; "
     "context_sparse_shapes: Ncontext_sparse * int64; context_dense_values: Tcontext_dense; "
     "feature_list_sparse_indices: Nfeature_list_sparse * int64; "
     "feature_list_sparse_values: feature_list_sparse_types; "
     "feature_list_sparse_shapes: Nfeature_list_sparse * int64; "
     "feature_list_dense_values: feature_list_dense_types",
     "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; "
     "Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; "
     "context_sparse_types: list({float, int64, string}) >= 0 = []; "
     "Tcontext_dense: list({float, int64, string}) >= 0 = []; "
     "feature_list_dense_types: list({float, int64, string}) >= 0 = []; "
     "context_dense_shapes: list(shape) >= 0 = []; "
     "feature_list_sparse_types: list({float, int64, string}) >= 0 = []; "
     "feature_list_dense_shapes: list(shape) >= 0 = []",
     ParseSingleSequenceExampleShape},
    {"ParseTensor", "serialized: string", "output: out_type", "out_type: type", nullptr},
    {"RandomCrop",
     "image: T; size: int64",
     "output: T",
     "T: {uint8, int8, int16, int32, int64, float, double}; seed: int = 0; seed2: int = 0",
     RandomCropShape,
     kStateful,
     {},
     8,
     "Random crop is now pure Python"},
    {"SampleDistortedBoundingBoxV2",
     "image_size: T; bounding_boxes: float; min_object_covered: float",
     "begin: T; size: T; bboxes: float",
     "T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0; "
     "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1]; "
     "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false",
     SampleDistortedBoundingBoxShape, kStateful},
    {"ScatterNdNonAliasingAdd", "input: T; indices: Tindices; updates: T", "output: T",
     "T: {numbertype, bool}; Tindices: {int32, int64}; bad_indices_policy: string = ''",
     TensorScatterShape},
    {"SdcaFprint", "input: string", "output: int64", "", RankRule<"1n -> [n,2]">},
    {"SerializeTensor", "tensor: T", "serialized: string", "T: type", ScalarShape},
    {"SobolSample", "dim: int32; num_results: int32; skip: int32", "samples: dtype",
     "dtype: {float, double} = DT_FLOAT", SobolSampleShape},
    {"StatelessSampleDistortedBoundingBox",
     "image_size: T; bounding_boxes: float; min_object_covered: float; seed: Tseed",
     "begin: T; size: T; bboxes: float",
     "T: {uint8, int8, int16, int32, int64}; Tseed: {int32, int64}; "
     "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1]; "
     "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false",
     SampleDistortedBoundingBoxShape},
    {"TensorStridedSliceUpdate", "input: T; begin: Index; end: Index; strides: Index; value: T",
     "output: T",
     "T: type; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; "
     "ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
     UnchangedShape},
    {"UniformCandidateSampler", "true_classes: int64",
     "sampled_candidates: int64; true_expected_count: float; sampled_expected_count: float",
     "num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; "
     "seed: int = 0; seed2: int = 0",
     CandidateSamplerShape, kStateful},
};

}  // namespace

absl::Span<const OpSpec> Preprocess() { return kPreprocessOps; }

}  // namespace tenon::ops
