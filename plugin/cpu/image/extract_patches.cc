// ExtractImagePatches and ExtractVolumePatches: what each position of a window sees, laid out along
// the last dimension.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/window.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Images are volumes of one plane.
struct Patches {
  int64_t batch = 0, pixel = 0;  // bytes of all channels
  WindowAxis axes[3];

  int64_t PatchBytes() const { return axes[0].size * axes[1].size * axes[2].size * pixel; }
};

// One patch: pixels outside of the image are 0.
void CopyPatch(const Patches& s, const char* image, const int64_t (&first)[3], char* to) {
  const auto inside = [&](int axis, int64_t i) { return i >= 0 && i < s.axes[axis].in; };
  for (int64_t i = 0; i < s.axes[0].size; ++i) {
    const int64_t plane = first[0] + i * s.axes[0].dilation;
    for (int64_t j = 0; j < s.axes[1].size; ++j) {
      const int64_t row = first[1] + j * s.axes[1].dilation;
      const bool visible = inside(0, plane) && inside(1, row);
      for (int64_t k = 0; k < s.axes[2].size; ++k, to += s.pixel) {
        const int64_t column = first[2] + k * s.axes[2].dilation;
        if (visible && inside(2, column)) {
          const int64_t from = (plane * s.axes[1].in + row) * s.axes[2].in + column;
          memcpy(to, image + from * s.pixel, s.pixel);
        } else {
          memset(to, 0, s.pixel);
        }
      }
    }
  }
}

absl::Status RunPatches(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Patches*>(state);
  const int64_t out[] = {s.axes[0].out, s.axes[1].out, s.axes[2].out};
  const int64_t image = s.axes[0].in * s.axes[1].in * s.axes[2].in * s.pixel;
  const int64_t patch = s.PatchBytes();
  args.workers->ParallelFor(s.batch * out[0] * out[1] * out[2], GrainFor(patch),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t t = begin; t < end; ++t) {
                                const int64_t position[] = {t / (out[1] * out[2]) % out[0],
                                                            t / out[2] % out[1], t % out[2]};
                                int64_t first[3];
                                for (int i = 0; i < 3; ++i)
                                  first[i] = position[i] * s.axes[i].stride - s.axes[i].before;
                                const int64_t n = t / (out[0] * out[1] * out[2]);
                                CopyPatch(s, static_cast<const char*>(args.in[0]) + n * image,
                                          first, static_cast<char*>(args.out[0]) + t * patch);
                              }
                            });
  return absl::OkStatus();
}

absl::Status PreparePatches(Prepare& p, int spatial) {
  const Shape& input = p.input_shape(0);
  const int rank = spatial + 2;
  if (input.rank() != rank)
    return p.Invalid(absl::StrCat("the input must have rank ", rank, ", not ", input.ToString()));
  TENON_ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(p, spatial));
  attrs.skips_evenly = spatial == 3;
  TENON_ASSIGN_OR_RETURN(const Dims sizes, ReadPerDim(p, "ksizes", rank));
  for (const Dims& steps : {sizes, attrs.strides}) {
    if (steps.front() != 1 || steps.back() != 1)
      return p.Unimplemented("patches over batch or channels are not built");
  }
  auto s = std::make_shared<Patches>();
  s->batch = input.dim(0);
  s->pixel = input.dim(rank - 1) * static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  s->axes[0].in = s->axes[0].out = 1;
  Dims output = {s->batch}, patch = {input.dim(rank - 1)};
  for (int i = 0; i < spatial; ++i) {
    WindowAxis& axis = s->axes[3 - spatial + i];
    TENON_ASSIGN_OR_RETURN(axis, MakeWindowAxis(p, attrs, i, input.dim(1 + i), sizes[1 + i]));
    output.push_back(axis.out);
    patch.push_back(axis.size);
  }
  TENON_ASSIGN_OR_RETURN(const Shape patch_shape, CheckedShape(p, patch));
  output.push_back(patch_shape.num_elements());
  TENON_ASSIGN_OR_RETURN(const Shape output_shape, CheckedShape(p, output));
  p.set_output_shape(0, output_shape);
  if (output_shape.num_elements() > 0) p.set_run(&RunPatches, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareImages(Prepare& p) { return PreparePatches(p, 2); }
absl::Status PrepareVolumes(Prepare& p) { return PreparePatches(p, 3); }

const CpuKernelSpec kPatchKernels[] = {
    {"ExtractImagePatches", {{"T", kNumberTypes | TypeBit(DataType::kBool)}}, &PrepareImages},
    {"ExtractVolumePatches", {{"T", kRealTypes}}, &PrepareVolumes},
};

}  // namespace

absl::Span<const CpuKernelSpec> PatchKernels() { return kPatchKernels; }

}  // namespace tenon::cpu
