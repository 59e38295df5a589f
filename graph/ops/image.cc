// Resizing, colour, boxes.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kImageOps[] = {
    {"AdjustContrast",
     "images: T; contrast_factor: float; min_value: float; max_value: float",
     "output: float",
     "T: {uint8, int8, int16, int32, int64, float, double}",
     AdjustContrastShape,
     kPure,
     {},
     2,
     "Use AdjustContrastv2 instead"},
    {"AdjustContrastv2", "images: T; contrast_factor: float", "output: T",
     "T: {half, float} = DT_FLOAT", AtLeastImageShape},
    {"AdjustHue", "images: T; delta: float", "output: T", "T: {half, float} = DT_FLOAT",
     AtLeastImageShape},
    {"AdjustSaturation", "images: T; scale: float", "output: T", "T: {half, float} = DT_FLOAT",
     AtLeastImageShape},
    {"CombinedNonMaxSuppression",
     "boxes: float; scores: float; max_output_size_per_class: int32; max_total_size: int32; "
     "iou_threshold: float; score_threshold: float",
     "nmsed_boxes: float; nmsed_scores: float; nmsed_classes: float; valid_detections: int32",
     "pad_per_class: bool = false; clip_boxes: bool = true", CombinedNonMaxSuppressionShape, kPure,
     OpFacts{.cost = {CostRule::kPairs}}},
    {"CropAndResize", "image: T; boxes: float; box_ind: int32; crop_size: int32", "crops: float",
     "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}; "
     "method: {'bilinear', 'nearest'} = 'bilinear'; extrapolation_value: float = 0",
     CropAndResizeShape},
    {"CropAndResizeGradBoxes", "grads: float; image: T; boxes: float; box_ind: int32",
     "output: float",
     "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}; "
     "method: {'bilinear'} = 'bilinear'",
     CropAndResizeGradBoxesShape},
    {"CropAndResizeGradImage", "grads: float; boxes: float; box_ind: int32; image_size: int32",
     "output: T", "T: {float, half, double}; method: {'bilinear', 'nearest'} = 'bilinear'",
     CropAndResizeGradImageShape},
    {"DecodeAndCropJpeg", "contents: string; crop_window: int32", "image: uint8",
     "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; "
     "try_recover_truncated: bool = false; acceptable_fraction: float = 1; dct_method: string = ''",
     DecodeCroppedImageShape, kPure, OpFacts{.cost = {CostRule::kElements, 500}}},
    {"DecodeGif", "contents: string", "image: uint8", "", DecodeGifShape},
    {"DecodeImage", "contents: string", "image: dtype",
     "channels: int = 0; dtype: {uint8, uint16, float} = DT_UINT8; expand_animations: bool = true",
     DecodeAnyImageShape, kPure, OpFacts{.cost = {CostRule::kElements, 500}}},
    {"DecodeJpeg", "contents: string", "image: uint8",
     "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; "
     "try_recover_truncated: bool = false; acceptable_fraction: float = 1; dct_method: string = ''",
     DecodeImageShape, kPure, OpFacts{.cost = {CostRule::kElements, 500}}},
    {"DecodeWebP", "contents: string", "image: dtype",
     "channels: int = 0; dtype: {uint8} = DT_UINT8", DecodeFramesShape},
    {"DrawBoundingBoxes", "images: T; boxes: float", "output: T", "T: {float, half} = DT_FLOAT",
     DrawBoundingBoxesShape},
    {"DrawBoundingBoxesV2", "images: T; boxes: float; colors: float", "output: T",
     "T: {float, half} = DT_FLOAT", DrawBoundingBoxesShape},
    {"EncodeJpeg", "image: uint8", "contents: string",
     "format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; "
     "optimize_size: bool = false; chroma_downsampling: bool = true; "
     "density_unit: {'in', 'cm'} = 'in'; x_density: int = 300; y_density: int = 300; "
     "xmp_metadata: string = ''",
     EncodeJpegShape, kPure, OpFacts{.cost = {CostRule::kElements, 500}}},
    {"EncodeJpegVariableQuality", "images: uint8; quality: int32", "contents: string", "",
     EncodeJpegShape},
    {"ExtractImagePatches", "images: T", "patches: T",
     "ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; T: {bfloat16, half, "
     "float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
     "complex128, bool}; padding: {'SAME', 'VALID'}",
     ExtractPatchesShape},
    {"ExtractJpegShape", "contents: string", "image_shape: output_type",
     "output_type: {int32, int64} = DT_INT32", ImageDimensionsShape},
    {"ExtractVolumePatches", "input: T", "patches: T",
     "ksizes: list(int) >= 5; strides: list(int) >= 5; T: realnumbertype; "
     "padding: {'SAME', 'VALID'}",
     ExtractPatchesShape},
    {"GenerateBoundingBoxProposals",
     "scores: float; bbox_deltas: float; image_info: float; anchors: float; nms_threshold: float; "
     "pre_nms_topn: int32; min_size: float",
     "rois: float; roi_probabilities: float", "post_nms_topn: int = 300",
     RankRule<"4n 4 [-1,5] 3 0 0 0 -> [n,#post_nms_topn,4] [n,#post_nms_topn]">},
    {"HSVToRGB", "images: T", "output: T", "T: {half, bfloat16, float, double} = DT_FLOAT",
     ColorSpaceShape},
    {"ImageProjectiveTransformV2", "images: dtype; transforms: float; output_shape: int32",
     "transformed_images: dtype",
     "dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; "
     "fill_mode: string = 'CONSTANT'",
     ProjectiveTransformShape},
    {"ImageProjectiveTransformV3",
     "images: dtype; transforms: float; output_shape: int32; fill_value: float",
     "transformed_images: dtype",
     "dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; "
     "fill_mode: string = 'CONSTANT'",
     ProjectiveTransformShape},
    {"NonMaxSuppression", "boxes: float; scores: float; max_output_size: int32",
     "selected_indices: int32", "iou_threshold: float = 0.5", NonMaxSuppressionShape, kPure,
     OpFacts{.cost = {CostRule::kPairs}}},
    {"NonMaxSuppressionV2",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold",
     "selected_indices: int32",
     "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT", NonMaxSuppressionShape,
     kPure, OpFacts{.cost = {CostRule::kPairs}}},
    {"NonMaxSuppressionV3",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold; "
     "score_threshold: T_threshold",
     "selected_indices: int32",
     "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT", NonMaxSuppressionShape,
     kPure, OpFacts{.cost = {CostRule::kPairs}}},
    {"NonMaxSuppressionV4",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold; "
     "score_threshold: T_threshold",
     "selected_indices: int32; valid_outputs: int32",
     "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT; "
     "pad_to_max_output_size: bool = false",
     NonMaxSuppressionPaddedShape, kPure, OpFacts{.cost = {CostRule::kPairs}}},
    {"NonMaxSuppressionV5",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T; score_threshold: T; "
     "soft_nms_sigma: T",
     "selected_indices: int32; selected_scores: T; valid_outputs: int32",
     "T: {half, float} = DT_FLOAT; pad_to_max_output_size: bool = false",
     NonMaxSuppressionPaddedShape, kPure, OpFacts{.cost = {CostRule::kPairs}}},
    {"NonMaxSuppressionWithOverlaps",
     "overlaps: float; scores: float; max_output_size: int32; overlap_threshold: float; "
     "score_threshold: float",
     "selected_indices: int32", "", NonMaxSuppressionOverlapsShape, kPure,
     OpFacts{.cost = {CostRule::kPairs}}},
    {"RGBToHSV", "images: T", "output: T", "T: {half, bfloat16, float, double} = DT_FLOAT",
     ColorSpaceShape},
    {"ResizeArea", "images: T; size: int32", "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; "
     "align_corners: bool = false",
     ResizeShape},
    {"ResizeBicubic", "images: T; size: int32", "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; "
     "align_corners: bool = false; half_pixel_centers: bool = false",
     ResizeShape},
    {"ResizeBicubicGrad", "grads: float; original_image: T", "output: T",
     "T: {float, double}; align_corners: bool = false; half_pixel_centers: bool = false",
     LikeInput1Shape},
    {"ResizeBilinear", "images: T; size: int32", "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}; "
     "align_corners: bool = false; half_pixel_centers: bool = false",
     ResizeShape, kPure, OpFacts{.precision = Precision::kClear}},
    {"ResizeBilinearGrad", "grads: float; original_image: T", "output: T",
     "T: {float, bfloat16, half, double}; align_corners: bool = false; "
     "half_pixel_centers: bool = false",
     LikeInput1Shape},
    {"ResizeNearestNeighbor", "images: T; size: int32", "resized_images: T",
     "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; "
     "align_corners: bool = false; half_pixel_centers: bool = false",
     ResizeShape, kPure, OpFacts{.precision = Precision::kClear}},
    {"ResizeNearestNeighborGrad", "grads: T; size: int32", "output: T",
     "T: {uint8, int8, int32, half, float, double, bfloat16}; align_corners: bool = false; "
     "half_pixel_centers: bool = false",
     ResizeShape, kPure, OpFacts{.precision = Precision::kClear}},
    {"SampleDistortedBoundingBox", "image_size: T; bounding_boxes: float",
     "begin: T; size: T; bboxes: float",
     "T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0; "
     "min_object_covered: float = 0.1; aspect_ratio_range: list(float) = [0.75, 1.33]; "
     "area_range: list(float) = [0.05, 1]; max_attempts: int = 100; "
     "use_image_if_no_bounding_boxes: bool = false",
     SampleDistortedBoundingBoxShape, kStateful},
    {"ScaleAndTranslate", "images: T; size: int32; scale: float; translation: float",
     "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}; "
     "kernel_type: string = 'lanczos3'; antialias: bool = true",
     ResizeLikeShape},
    {"ScaleAndTranslateGrad", "grads: T; original_image: T; scale: float; translation: float",
     "output: T", "T: {float}; kernel_type: string = 'lanczos3'; antialias: bool = true",
     LikeInput1Shape},
};

}  // namespace

absl::Span<const OpSpec> Image() { return kImageOps; }

}  // namespace tenon::ops
