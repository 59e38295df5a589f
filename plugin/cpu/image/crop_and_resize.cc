// CropAndResize and its gradients: boxes of images, each resampled to one size.
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/image/crop_and_resize_loops.h"
#include "plugin/cpu/image/resize_axis.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status ReadBoxes(const Prepare& p, int boxes, Crop* s) {
  const Shape &b = p.input_shape(boxes), &index = p.input_shape(boxes + 1);
  if (b.rank() != 2 || b.dim(1) != 4)
    return p.Invalid(absl::StrCat("the boxes must have shape [n,4], not ", b.ToString()));
  if (index.rank() != 1 || index.dim(0) != b.dim(0))
    return p.Invalid(absl::StrCat("there must be an image's number per box: ", index.ToString()));
  s->boxes = b.dim(0);
  TENON_ASSIGN_OR_RETURN(const std::string_view method, p.AttrString("method"));
  if (method != "bilinear" && method != "nearest")
    return p.Invalid(absl::StrCat("method '", method, "' is neither bilinear nor nearest"));
  s->nearest = method == "nearest";
  return absl::OkStatus();
}

absl::Status ReadImage(const Prepare& p, const Shape& image, Crop* s) {
  if (image.rank() != 4 || image.dim(1) <= 0 || image.dim(2) <= 0) {
    return p.Invalid(absl::StrCat("the image must have rank 4, rows and columns, not the shape ",
                                  image.ToString()));
  }
  TENON_RETURN_IF_ERROR(CheckPixelsAreNumbered(p, image));
  s->batch = image.dim(0);
  s->rows = image.dim(1);
  s->columns = image.dim(2);
  s->channels = image.dim(3);
  return absl::OkStatus();
}

absl::Status ReadGradients(const Prepare& p, Crop* s) {
  const Shape& gradients = p.input_shape(0);
  if (gradients.rank() != 4 || gradients.dim(1) <= 0 || gradients.dim(2) <= 0) {
    return p.Invalid(absl::StrCat("the gradients must have rank 4, rows and columns, not ",
                                  gradients.ToString()));
  }
  if (gradients.dim(0) != s->boxes || gradients.dim(3) != s->channels) {
    return p.Invalid(absl::StrCat("the gradients ", gradients.ToString(), " must be of ", s->boxes,
                                  " boxes and ", s->channels, " channels"));
  }
  s->crop_rows = gradients.dim(1);
  s->crop_columns = gradients.dim(2);
  return absl::OkStatus();
}

absl::Status PrepareCrop(Prepare& p) {
  auto s = std::make_shared<Crop>();
  s->type = p.input_type(0);
  TENON_RETURN_IF_ERROR(ReadImage(p, p.input_shape(0), s.get()));
  TENON_RETURN_IF_ERROR(ReadBoxes(p, 1, s.get()));
  TENON_ASSIGN_OR_RETURN(s->outside, p.AttrFloat("extrapolation_value"));
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(3));
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
    return p.Invalid("crop_size must be a vector of 2 positive numbers");
  s->crop_rows = size[0];
  s->crop_columns = size[1];
  TENON_ASSIGN_OR_RETURN(Shape output, CheckedShape(p, {s->boxes, size[0], size[1], s->channels}));
  p.set_output_shape(0, std::move(output));
  p.set_run(&RunCrop, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareImageGradient(Prepare& p) {
  auto s = std::make_shared<Crop>();
  s->type = p.output_type(0);
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(3));
  if (size.size() != 4)
    return p.Invalid(absl::StrCat("image_size must have 4 values, not ", size.size()));
  TENON_ASSIGN_OR_RETURN(Shape image, CheckedShape(p, size));
  TENON_RETURN_IF_ERROR(ReadImage(p, image, s.get()));
  TENON_RETURN_IF_ERROR(ReadBoxes(p, 1, s.get()));
  TENON_RETURN_IF_ERROR(ReadGradients(p, s.get()));
  p.set_output_shape(0, std::move(image));
  p.set_run(&RunImageGradient, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareBoxGradient(Prepare& p) {
  auto s = std::make_shared<Crop>();
  s->type = p.input_type(1);
  TENON_RETURN_IF_ERROR(ReadImage(p, p.input_shape(1), s.get()));
  TENON_RETURN_IF_ERROR(ReadBoxes(p, 2, s.get()));
  TENON_RETURN_IF_ERROR(ReadGradients(p, s.get()));
  p.set_output_shape(0, Shape({s->boxes, 4}));
  p.set_run(&RunBoxGradient, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kGradientTypes = TypeBits(DataType::kFloat, DataType::kHalf, DataType::kDouble);

const CpuKernelSpec kCropKernels[] = {
    {"CropAndResize", {{"T", kRealTypes}}, &PrepareCrop, 0b1000},
    {"CropAndResizeGradImage", {{"T", kGradientTypes}}, &PrepareImageGradient, 0b1000},
    {"CropAndResizeGradBoxes", {{"T", kRealTypes}}, &PrepareBoxGradient},
};

}  // namespace

absl::Span<const CpuKernelSpec> CropKernels() { return kCropKernels; }

}  // namespace tenon::cpu
