// SobolSample: points that fill a cube evenly.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/preprocess/sobol_points.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Sobol {
  SobolPoints points;
  bool wide;
};

absl::Status RunSobol(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Sobol*>(state);
  if (s.wide) {
    s.points.Write(static_cast<double*>(args.out[0]));
  } else {
    s.points.Write(static_cast<float*>(args.out[0]));
  }
  return absl::OkStatus();
}

absl::Status PrepareSobol(Prepare& p) {
  SobolPoints s;
  TENON_ASSIGN_OR_RETURN(s.dimensions, InputInt(p, 0));
  TENON_ASSIGN_OR_RETURN(s.points, InputInt(p, 1));
  TENON_ASSIGN_OR_RETURN(s.skipped, InputInt(p, 2));
  if (s.dimensions < 1 || s.dimensions > kMostSobolDimensions) {
    return p.Invalid(
        absl::StrCat("'dim' must be in [1, ", kMostSobolDimensions, "], not ", s.dimensions));
  }
  if (s.points < 1 || s.skipped < 0 || s.points + s.skipped > INT32_MAX) {
    return p.Invalid(absl::StrCat("'num_results' must be positive, 'skip' not negative, their sum ",
                                  "int32: ", s.points, " and ", s.skipped));
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {s.points, s.dimensions}));
  p.set_output_shape(0, out);
  p.set_run(&RunSobol, std::make_shared<Sobol>(Sobol{s, p.output_type(0) == DataType::kDouble}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SobolKernels() {
  static const CpuKernelSpec specs[] = {{"SobolSample", {}, PrepareSobol, 0b111}};
  return specs;
}

}  // namespace tenon::cpu
