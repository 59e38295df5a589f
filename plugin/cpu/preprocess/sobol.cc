// SobolSample: points that fill a cube evenly.
#include <boost/random/sobol.hpp>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

struct Sobol {
  int64_t dimensions, points, skipped;
  bool wide;
};

absl::Status RunSobol(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Sobol*>(state);
  // The engine's first point is TensorFlow's, too: it leaves out the corner.
  boost::random::sobol engine(static_cast<size_t>(s.dimensions));
  engine.discard(static_cast<uint64_t>(s.skipped) * static_cast<uint64_t>(s.dimensions));
  for (int64_t i = 0; i < s.points * s.dimensions; ++i) {
    const double x = static_cast<double>(engine()) * 0x1p-64;
    if (s.wide) {
      static_cast<double*>(args.out[0])[i] = x;
    } else {
      static_cast<float*>(args.out[0])[i] = static_cast<float>(x);
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareSobol(Prepare& p) {
  Sobol s;
  TENON_ASSIGN_OR_RETURN(s.dimensions, InputInt(p, 0));
  TENON_ASSIGN_OR_RETURN(s.points, InputInt(p, 1));
  TENON_ASSIGN_OR_RETURN(s.skipped, InputInt(p, 2));
  constexpr int64_t kMostDimensions = 3667;  // of the table of primitive polynomials
  if (s.dimensions < 1 || s.dimensions > kMostDimensions) {
    return p.Invalid(
        absl::StrCat("'dim' must be in [1, ", kMostDimensions, "], not ", s.dimensions));
  }
  if (s.points < 1 || s.skipped < 0 || s.points + s.skipped > INT32_MAX) {
    return p.Invalid(absl::StrCat("'num_results' must be positive, 'skip' not negative, their sum ",
                                  "int32: ", s.points, " and ", s.skipped));
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {s.points, s.dimensions}));
  s.wide = p.output_type(0) == DataType::kDouble;
  p.set_output_shape(0, out);
  p.set_run(&RunSobol, std::make_shared<Sobol>(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SobolKernels() {
  static const CpuKernelSpec specs[] = {{"SobolSample", {}, PrepareSobol, 0b111}};
  return specs;
}

}  // namespace tenon::cpu
