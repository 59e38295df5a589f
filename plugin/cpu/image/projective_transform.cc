// ImageProjectiveTransformV2 and V3: each output pixel looks up where a projection takes it.
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/image/projective_transform_loops.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<ProjectionFill> ReadFill(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("fill_mode"));
  if (mode == "CONSTANT") return ProjectionFill::kConstant;
  if (mode == "NEAREST") return ProjectionFill::kNearest;
  if (mode == "REFLECT") return ProjectionFill::kReflect;
  if (mode == "WRAP") return ProjectionFill::kWrap;
  return p.Invalid(
      absl::StrCat("fill_mode '", mode, "' is none of CONSTANT, NEAREST, REFLECT, WRAP"));
}

absl::Status PrepareProjection(Prepare& p) {
  const Shape &images = p.input_shape(0), &transforms = p.input_shape(1);
  if (images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", images.ToString()));
  if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
      (transforms.dim(0) != 1 && transforms.dim(0) != images.dim(0))) {
    return p.Invalid(absl::StrCat("the transforms must have shape [1,8] or [", images.dim(0),
                                  ",8], not ", transforms.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(2));
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
    return p.Invalid("output_shape must be a vector of 2 positive numbers");
  auto s = std::make_shared<Projection>();
  s->has_fill_value = p.num_inputs() == 4;
  if (s->has_fill_value && p.input_shape(3).rank() != 0)
    return p.Invalid("fill_value must be a scalar");
  TENON_ASSIGN_OR_RETURN(const std::string_view interpolation, p.AttrString("interpolation"));
  if (interpolation != "NEAREST" && interpolation != "BILINEAR") {
    return p.Invalid(
        absl::StrCat("interpolation '", interpolation, "' is neither NEAREST nor BILINEAR"));
  }
  s->bilinear = interpolation == "BILINEAR";
  TENON_ASSIGN_OR_RETURN(s->fill, ReadFill(p));
  s->type = p.input_type(0);
  s->batch = images.dim(0);
  s->rows = images.dim(1);
  s->columns = images.dim(2);
  s->channels = images.dim(3);
  s->out_rows = size[0];
  s->out_columns = size[1];
  s->shared = transforms.dim(0) == 1;
  TENON_ASSIGN_OR_RETURN(Shape output, CheckedShape(p, {s->batch, size[0], size[1], s->channels}));
  p.set_output_shape(0, std::move(output));
  p.set_run(&RunProjection, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kTransformTypes =
    kFloatTypes | TypeBits(DataType::kUint8, DataType::kInt32, DataType::kInt64);

const CpuKernelSpec kProjectionKernels[] = {
    {"ImageProjectiveTransformV2", {{"dtype", kTransformTypes}}, &PrepareProjection, 0b100},
    {"ImageProjectiveTransformV3", {{"dtype", kTransformTypes}}, &PrepareProjection, 0b100},
};

}  // namespace

absl::Span<const CpuKernelSpec> ProjectionKernels() { return kProjectionKernels; }

}  // namespace tenon::cpu
