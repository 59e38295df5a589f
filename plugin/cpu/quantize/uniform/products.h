// Shared code of the products of uniformly quantized values: the scales of operands and results,
// and the conversion of sums to results.
#pragma once

#include "plugin/cpu/quantize/uniform/affine.h"

namespace tenon::cpu {

// The scales of a product. The lhs has one scale, or if hybrid one for each row; the rhs has one
// for all output features or one for each; so has the output, unless the op is hybrid.
struct ProductScales {
  bool hybrid;       // the lhs is float, each row quantized in the run; the output is float
  int64_t features;  // of the output; ReadProductScales leaves it 0, and its caller sets it
  bool per_feature;  // the rhs has a scale for each feature
  // Of the output's quantization; not used if hybrid.
  bool out_per_feature = false;
  QuantizedLimits limits{};

  // Input numbers of the scales. The input behind each has its zero points. A hybrid op has no such
  // inputs for lhs and output.
  int rhs_input() const { return hybrid ? 2 : 4; }
  static constexpr int kLhsInput = 2, kOutInput = 6;
};

// Checks the scales' shapes and, unless hybrid, reads the output's limits; leaves `features` 0.
// `rhs_axis` and `out_axis` are the axes of output features in the rhs and in the output, of shape
// `out`; -1 for one scale. A node of four inputs is hybrid. Returns the errors of CheckScales and
// ReadQuantizedLimits; INVALID_ARGUMENT if the output has a scale for each feature and the rhs does
// not.
absl::StatusOr<ProductScales> ReadProductScales(const Prepare& p, const Shape& out, int rhs_axis,
                                                int out_axis);

// Makes results of int32 sums, in the types of the op: float if hybrid, else qint32. Lives within
// one run: refers to the run's scales, arguments and scratch memory. Thread-safe once made.
class ProductResults {
 public:
  // The bytes of scratch memory for Read. The caller has set s.features.
  static size_t ScratchBytes(const ProductScales& s) { return s.features * sizeof(FixedFactor); }
  // Reads the scales at the start of a run, and fills `scratch` unless the op is hybrid. The caller
  // has set s.features. INVALID_ARGUMENT if a scale among the inputs is not positive, or if
  // FixedFactor::Of refuses lhs scale * rhs scale / output scale. `s`, `args` and `scratch` must
  // outlive the result.
  static absl::StatusOr<ProductResults> Read(const ProductScales& s, const StepArgs& args,
                                             void* scratch);

  // Returns the zero point of the rhs for a feature.
  int32_t rhs_zero(int64_t feature) const {
    return ZeroAt(args_, s_.rhs_input() + 1, s_.per_feature ? feature : 0);
  }
  // Stores the result of the sum for a feature as element i of output 0. The sum is that of
  // products of operands from which the zero points are subtracted already. `lhs_scale` is the
  // scale of the lhs row; read in hybrid ops only.
  void Store(int64_t i, int64_t feature, int32_t sum, float lhs_scale) const {
    if (s_.hybrid) {
      static_cast<float*>(args_.out[0])[i] =
          static_cast<float>(sum) * lhs_scale * ScaleAt(args_, 2, s_.per_feature ? feature : 0);
    } else {
      const int32_t zero =
          ZeroAt(args_, ProductScales::kOutInput + 1, s_.out_per_feature ? feature : 0);
      static_cast<int32_t*>(args_.out[0])[i] =
          s_.limits.Clamp(WrappingAdd(factors_[feature](sum), zero));
    }
  }

 private:
  ProductResults(const ProductScales& s, const StepArgs& args, const FixedFactor* factors)
      : s_(s), args_(args), factors_(factors) {}

  const ProductScales& s_;
  const StepArgs& args_;
  const FixedFactor* factors_;
};

// The quantization of one lhs row of a hybrid op to int8.
struct RowScale {
  float scale, inverse;
  int32_t zero;

  // Returns the quantization of values in [min, max], widened to hold 0. If float cannot divide by
  // the range's width (0, for example), all finite values become 0: scale 1, inverse 0, zero point
  // 0. An infinite width gives an infinite scale and inverse 0.
  static RowScale OfRange(float min, float max);
  int8_t operator()(float x) const {
    return static_cast<int8_t>(AffineQuantize(x, inverse, zero, {-128, 127}));
  }
};

}  // namespace tenon::cpu
