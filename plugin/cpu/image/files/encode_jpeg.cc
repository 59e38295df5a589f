// EncodeJpeg, EncodeJpegVariableQuality.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/image/files/codecs.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct JpegEncode {
  Shape shape;
  JpegEncoding options;
};

absl::Status CheckQuality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'quality' must be in [0, 100], not ", quality));
}

absl::Status Run(const JpegEncode& s, const JpegEncoding& options, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::string file,
                         EncodeJpeg(static_cast<const uint8_t*>(args.in[0]), s.shape, options));
  PutString(args.out[0], 0, file);
  return absl::OkStatus();
}

absl::Status RunFixed(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const JpegEncode*>(state);
  return Run(s, s.options, args);
}

absl::Status RunVariable(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const JpegEncode*>(state);
  JpegEncoding options;
  options.quality = *static_cast<const int32_t*>(args.in[1]);
  TENON_RETURN_IF_ERROR(CheckQuality(options.quality));
  return Run(s, options, args);
}

// `channels`: that the image must have; 0: 1 or 3.
absl::Status PrepareJpegEncode(Prepare& p, int64_t channels, JpegEncoding options, RunFn run) {
  const Shape& in = p.input_shape(0);
  if (in.rank() != 3) return p.Invalid("an image has three dimensions");
  if (in.num_elements() > INT32_MAX) {
    return p.Invalid(absl::StrCat("an image of ", in.num_elements(), " values is too large"));
  }
  const int64_t there = in.dim(2);
  if (channels == 0 && there != 1 && there != 3)
    return p.Invalid(absl::StrCat("an image has 1 or 3 channels, not ", there));
  if (channels != 0 && there != channels) {
    return p.Invalid(absl::StrCat("attribute 'format' wants ", channels,
                                  " channels, but the image has ", there));
  }
  p.set_output_shape(0, Shape());
  p.set_run(run, std::make_shared<JpegEncode>(JpegEncode{in, std::move(options)}));
  return absl::OkStatus();
}

absl::Status PrepareFixed(Prepare& p) {
  JpegEncoding options;
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("format"));
  TENON_ASSIGN_OR_RETURN(const int64_t quality, p.AttrInt("quality"));
  TENON_RETURN_IF_ERROR(CheckQuality(quality));
  options.quality = static_cast<int>(quality);
  TENON_ASSIGN_OR_RETURN(options.progressive, p.AttrBool("progressive"));
  TENON_ASSIGN_OR_RETURN(options.optimize_size, p.AttrBool("optimize_size"));
  TENON_ASSIGN_OR_RETURN(options.chroma_downsampling, p.AttrBool("chroma_downsampling"));
  TENON_ASSIGN_OR_RETURN(const std::string_view unit, p.AttrString("density_unit"));
  options.per_centimetre = unit == "cm";
  TENON_ASSIGN_OR_RETURN(const int64_t x_density, p.AttrInt("x_density"));
  TENON_ASSIGN_OR_RETURN(const int64_t y_density, p.AttrInt("y_density"));
  options.x_density = static_cast<uint16_t>(x_density);
  options.y_density = static_cast<uint16_t>(y_density);
  TENON_ASSIGN_OR_RETURN(const std::string_view xmp, p.AttrString("xmp_metadata"));
  options.xmp_metadata = std::string(xmp);
  return PrepareJpegEncode(p,
                           format.empty()    ? 0
                           : format == "rgb" ? 3
                                             : 1,
                           std::move(options), &RunFixed);
}

absl::Status PrepareVariable(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckScalars(p, 1, 2));
  return PrepareJpegEncode(p, 0, {}, &RunVariable);
}

}  // namespace

absl::Span<const CpuKernelSpec> EncodeJpegKernels() {
  static const CpuKernelSpec specs[] = {
      {"EncodeJpeg", {}, PrepareFixed},
      {"EncodeJpegVariableQuality", {}, PrepareVariable},
  };
  return specs;
}

}  // namespace tenon::cpu
