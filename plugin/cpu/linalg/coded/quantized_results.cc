#include "plugin/cpu/linalg/coded/quantized_results.h"

#include "absl/strings/str_cat.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<QuantizedResults> QuantizedResults::Read(const Prepare& p, const FusedOps& fused,
                                                        int64_t n) {
  for (const int i : {kScales, kZeros}) {
    if (!(p.input_shape(i) == Shape({n})))
      return p.Invalid(absl::StrCat("scales and zeros need ", n, " values each"));
  }
  return QuantizedResults(fused, n);
}

void QuantizedResults::Store(const StepArgs& args, const int32_t* sums, int64_t rows,
                             int64_t columns, float scale, int64_t first, int64_t at) const {
  const auto* const bias = bias_ < 0 ? nullptr : static_cast<const float*>(args.in[bias_]) + first;
  float* const out = static_cast<float*>(args.out[0]) + at;
  loops_->from_sums(sums, rows, columns, scale, static_cast<const float*>(args.in[kScales]) + first,
                    bias, out);
  following_.Run(args, out, rows * columns, first, at);
}

}  // namespace tenon::cpu
