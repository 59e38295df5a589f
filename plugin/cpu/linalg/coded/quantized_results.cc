#include "plugin/cpu/linalg/coded/quantized_results.h"

#include <limits>

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

QuantizedResults::QuantizedResults(const FusedOps& fused, int64_t n)
    : bias_(fused.bias), add_(fused.add), n_(n) {
  const Activation activation = fused.activation;
  const bool relu = activation == Activation::kRelu, relu6 = activation == Activation::kRelu6;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  floor_ = relu || relu6 ? 0 : -kInfinity;
  ceiling_ = relu6 ? 6 : kInfinity;
  if (!relu && !relu6 && activation != Activation::kNone) other_.emplace(activation, fused.alpha);
}

void QuantizedResults::Store(const StepArgs& args, const Sums& sums, float scale,
                             int64_t first) const {
  const int64_t j = sums.begin, columns = sums.end - j, at = first * n_ + j;
  const auto floats = [&](int input, int64_t from) {
    return input < 0 ? nullptr : static_cast<const float*>(args.in[input]) + from;
  };
  float* const y = static_cast<float*>(args.out[0]) + at;
  loops_->from_sums({sums.sums, sums.row, sums.rows, columns, sums.offsets, scale,
                     floats(kScales, j), floats(bias_, j), floats(add_, at), floor_, ceiling_, y,
                     n_});
  for (int64_t i = 0; other_ && i < sums.rows; ++i) other_->Run(y + i * n_, columns);
}

}  // namespace tenon::cpu
