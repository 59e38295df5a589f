// Decoding of files and records, sampling, in-place updates.
#include "graph/ops/families.h"
#include "graph/ops/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"AudioSpectrogram", "input: float", "spectrogram: float",
     "window_size: int; stride: int; magnitude_squared: bool = false", AudioSpectrogramShape},
    {"BatchNormWithGlobalNormalization", "t: T; m: T; v: T; beta: T; gamma: T", "result: T",
     "T: numbertype; variance_epsilon: float; scale_after_normalization: bool",
     BatchNormGlobalShape, 0, 9, "use tf"},
    {"DecodeBmp", "contents: string", "image: uint8", "channels: int = 0", DecodeImageShape},
    {"DecodeCSV", "records: string; record_defaults: OUT_TYPE", "output: OUT_TYPE",
     "OUT_TYPE: list({float, double, int32, int64, string}); field_delim: string = ','; "
     "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
     DecodeCSVShape},
    {"DecodeCompressed", "bytes: string", "output: string", "compression_type: string = ''",
     UnchangedShape},
    {"DecodePng", "contents: string", "image: dtype",
     "channels: int = 0; dtype: {uint8, uint16} = DT_UINT8", DecodeImageShape},
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
     "compression: int = -1; T: {uint8, uint16} = DT_UINT8", EncodePngShape},
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
     FusedPadConv2DShape},
    {"FusedResizeAndPadConv2D", "input: T; size: int32; paddings: int32; filter: T", "output: T",
     "T: {half, float, double}; resize_align_corners: bool = false; "
     "mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); padding: {'SAME', 'VALID'}",
     FusedResizeAndPadConv2DShape},
    {"InplaceAdd", "x: T; i: int32; v: T", "y: T", "T: type", UnchangedShape},
    {"InplaceSub", "x: T; i: int32; v: T", "y: T", "T: type", UnchangedShape},
    {"InplaceUpdate", "x: T; i: int32; v: T", "y: T", "T: type", UnchangedShape},
    {"LogUniformCandidateSampler", "true_classes: int64",
     "sampled_candidates: int64; true_expected_count: float; sampled_expected_count: float",
     "num_true: int >= 1; num_sampled: int >= 1; unique: bool; range_max: int >= 1; "
     "seed: int = 0; seed2: int = 0",
     CandidateSamplerShape, kStateful},
    {"Mfcc", "spectrogram: float; sample_rate: int32", "output: float",
     "upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; "
     "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
     MfccShape},
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
     nullptr},
    {"ParseTensor", "serialized: string", "output: out_type", "out_type: type", nullptr},
    {"RandomCrop", "image: T; size: int64", "output: T",
     "T: {uint8, int8, int16, int32, int64, float, double}; seed: int = 0; seed2: int = 0",
     RandomCropShape, kStateful, 8, "Random crop is now pure Python"},
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

absl::Span<const OpSpec> Preprocess() { return kOps; }

}  // namespace tenon::ops
