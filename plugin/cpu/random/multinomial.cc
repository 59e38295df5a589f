// Multinomial, StatelessMultinomial: classes drawn by unnormalized log-probabilities.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Multinomial {
  PhiloxSource source;
  DataType type;
  bool out64;
  int64_t batch, classes, samples;
};

// Writes the sums of the probabilities up to each class, relative to the most likely one; those of
// classes whose logits are not finite count as 0.
template <typename Element>
void SumProbabilities(Element element, const void* logits, int64_t first, int64_t classes,
                      double* sums) {
  double most = std::numeric_limits<double>::lowest();
  for (int64_t j = 0; j < classes; ++j) {
    const auto x = element.template As<double>(logits, first + j);
    if (std::isfinite(x)) most = std::max(most, x);
  }
  double sum = 0;
  for (int64_t j = 0; j < classes; ++j) {
    const auto x = element.template As<double>(logits, first + j);
    if (std::isfinite(x)) sum += std::exp(x - most);
    sums[j] = sum;
  }
}

// In one thread: TensorFlow's answers depend on how many threads share the rows; these are its
// answers on one (DESIGN.md).
absl::Status RunMultinomial(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Multinomial*>(state);
  // Two words a sample, rounded up to whole blocks in each row.
  const uint64_t outputs = static_cast<uint64_t>(s.batch) * ((s.samples + 3) / 4 * 4) * 2;
  TENON_ASSIGN_OR_RETURN(const Philox philox, s.source.Start(args, kBlocksPerOutput * outputs));
  PhiloxStream words(philox);
  auto* const sums = static_cast<double*>(args.scratch);
  for (int64_t b = 0; b < s.batch; ++b) {
    VisitFloat(s.type, [&](auto element) {
      SumProbabilities(element, args.in[0], b * s.classes, s.classes, sums);
    });
    for (int64_t i = b * s.samples; i < (b + 1) * s.samples; ++i) {
      const double place = words.NextDouble() * sums[s.classes - 1];
      const int64_t drawn = std::upper_bound(sums, sums + s.classes, place) - sums;
      if (s.out64) {
        static_cast<int64_t*>(args.out[0])[i] = drawn;
      } else {
        static_cast<int32_t*>(args.out[0])[i] = static_cast<int32_t>(drawn);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareMultinomial(Prepare& p) {
  const Shape& logits = p.input_shape(0);
  if (logits.rank() != 2) return p.Invalid("'logits' must be a matrix");
  if (p.input_shape(1).rank() != 0) return p.Invalid("'num_samples' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t samples, InputInt(p, 1));
  if (samples < 0) return p.Invalid("'num_samples' must not be negative");
  if (logits.dim(1) < 1 || logits.dim(1) > INT32_MAX)
    return p.Invalid("the number of classes must be positive and fit int32");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {logits.dim(0), samples}));
  TENON_ASSIGN_OR_RETURN(PhiloxSource source, PhiloxSource::Of(p));
  p.set_output_shape(0, out);
  p.set_scratch_bytes(logits.dim(1) * sizeof(double));
  p.set_run(&RunMultinomial,
            std::make_shared<Multinomial>(Multinomial{
                std::move(source), p.input_type(0), p.output_type(0) == DataType::kInt64,
                out.num_elements() == 0 ? 0 : logits.dim(0), logits.dim(1), samples}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> MultinomialKernels() {
  static const CpuKernelSpec specs[] = {
      {"Multinomial", {{"T", kFloatTypes}}, PrepareMultinomial, 0b10, true},
      {"StatelessMultinomial", {{"T", kFloatTypes}}, PrepareMultinomial, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
