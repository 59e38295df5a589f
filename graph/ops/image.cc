// Resizing, colour, boxes.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"AdjustContrastv2", "images: T; contrast_factor: float", "output: T",
     "T: {half, float} = DT_FLOAT", nullptr},
    {"AdjustHue", "images: T; delta: float", "output: T", "T: {half, float} = DT_FLOAT", nullptr},
    {"AdjustSaturation", "images: T; scale: float", "output: T", "T: {half, float} = DT_FLOAT",
     nullptr},
    {"CombinedNonMaxSuppression",
     "boxes: float; scores: float; max_output_size_per_class: int32; max_total_size: int32; "
     "iou_threshold: float; score_threshold: float",
     "nmsed_boxes: float; nmsed_scores: float; nmsed_classes: float; valid_detections: int32",
     "pad_per_class: bool = false; clip_boxes: bool = true", nullptr},
    {"CropAndResize", "image: T; boxes: float; box_ind: int32; crop_size: int32", "crops: float",
     "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}; "
     "method: {'bilinear', 'nearest'} = 'bilinear'; extrapolation_value: float = 0",
     nullptr},
    {"CropAndResizeGradBoxes", "grads: float; image: T; boxes: float; box_ind: int32",
     "output: float",
     "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}; "
     "method: {'bilinear'} = 'bilinear'",
     nullptr},
    {"CropAndResizeGradImage", "grads: float; boxes: float; box_ind: int32; image_size: int32",
     "output: T", "T: {float, half, double}; method: {'bilinear', 'nearest'} = 'bilinear'",
     nullptr},
    {"DrawBoundingBoxes", "images: T; boxes: float", "output: T", "T: {float, half} = DT_FLOAT",
     nullptr},
    {"DrawBoundingBoxesV2", "images: T; boxes: float; colors: float", "output: T",
     "T: {float, half} = DT_FLOAT", nullptr},
    {"ExtractImagePatches", "images: T", "patches: T",
     "ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; T: {bfloat16, half, "
     "float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
     "complex128, bool}; padding: {'SAME', 'VALID'}",
     nullptr},
    {"ExtractVolumePatches", "input: T", "patches: T",
     "ksizes: list(int) >= 5; strides: list(int) >= 5; T: realnumbertype; "
     "padding: {'SAME', 'VALID'}",
     nullptr},
    {"HSVToRGB", "images: T", "output: T", "T: {half, bfloat16, float, double} = DT_FLOAT",
     nullptr},
    {"ImageProjectiveTransformV2", "images: dtype; transforms: float; output_shape: int32",
     "transformed_images: dtype",
     "dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; "
     "fill_mode: string = 'CONSTANT'",
     nullptr},
    {"ImageProjectiveTransformV3",
     "images: dtype; transforms: float; output_shape: int32; fill_value: float",
     "transformed_images: dtype",
     "dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; "
     "fill_mode: string = 'CONSTANT'",
     nullptr},
    {"NonMaxSuppression", "boxes: float; scores: float; max_output_size: int32",
     "selected_indices: int32", "iou_threshold: float = 0.5", nullptr},
    {"NonMaxSuppressionV2",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold",
     "selected_indices: int32",
     "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT", nullptr},
    {"NonMaxSuppressionV3",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold; "
     "score_threshold: T_threshold",
     "selected_indices: int32",
     "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT", nullptr},
    {"NonMaxSuppressionV4",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold; "
     "score_threshold: T_threshold",
     "selected_indices: int32; valid_outputs: int32",
     "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT; "
     "pad_to_max_output_size: bool = false",
     nullptr},
    {"NonMaxSuppressionV5",
     "boxes: T; scores: T; max_output_size: int32; iou_threshold: T; score_threshold: T; "
     "soft_nms_sigma: T",
     "selected_indices: int32; selected_scores: T; valid_outputs: int32",
     "T: {half, float} = DT_FLOAT; pad_to_max_output_size: bool = false", nullptr},
    {"NonMaxSuppressionWithOverlaps",
     "overlaps: float; scores: float; max_output_size: int32; overlap_threshold: float; "
     "score_threshold: float",
     "selected_indices: int32", "", nullptr},
    {"RGBToHSV", "images: T", "output: T", "T: {half, bfloat16, float, double} = DT_FLOAT",
     nullptr},
    {"ResizeArea", "images: T; size: int32", "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; "
     "align_corners: bool = false",
     nullptr},
    {"ResizeBicubic", "images: T; size: int32", "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; "
     "align_corners: bool = false; half_pixel_centers: bool = false",
     nullptr},
    {"ResizeBicubicGrad", "grads: float; original_image: T", "output: T",
     "T: {float, double}; align_corners: bool = false; half_pixel_centers: bool = false", nullptr},
    {"ResizeBilinear", "images: T; size: int32", "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}; "
     "align_corners: bool = false; half_pixel_centers: bool = false",
     nullptr},
    {"ResizeBilinearGrad", "grads: float; original_image: T", "output: T",
     "T: {float, bfloat16, half, double}; align_corners: bool = false; "
     "half_pixel_centers: bool = false",
     nullptr},
    {"ResizeNearestNeighbor", "images: T; size: int32", "resized_images: T",
     "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}; "
     "align_corners: bool = false; half_pixel_centers: bool = false",
     nullptr},
    {"ResizeNearestNeighborGrad", "grads: T; size: int32", "output: T",
     "T: {uint8, int8, int32, half, float, double, bfloat16}; align_corners: bool = false; "
     "half_pixel_centers: bool = false",
     nullptr},
    {"ScaleAndTranslate", "images: T; size: int32; scale: float; translation: float",
     "resized_images: float",
     "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}; "
     "kernel_type: string = 'lanczos3'; antialias: bool = true",
     nullptr},
};

}  // namespace

absl::Span<const OpSpec> Image() { return kOps; }

}  // namespace tenon::ops
