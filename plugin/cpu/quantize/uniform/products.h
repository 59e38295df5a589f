// Shared code of the products of uniformly quantized values: the scales of operands and results,
// and the conversion of sums to results.
#pragma once

#include "plugin/cpu/quantize/uniform/affine.h"

namespace tenon::cpu {

// The rhs and, unless the op is hybrid, the output have scales for each output feature or for all.
struct ProductScales {
  bool hybrid;       // the lhs is float, quantized row by row in the run; the output is float
  int64_t features;  // of the output
  bool per_feature;  // the rhs
  bool out_per_feature = false;
  QuantizedLimits limits{};

  // Inputs of the scales, which the zero points follow.
  int rhs_input() const { return hybrid ? 2 : 4; }
  static constexpr int kLhsInput = 2, kOutInput = 6;
};

// Checks the shapes of the scales, given the axes of output features in rhs and output, or -1.
absl::StatusOr<ProductScales> ReadProductScales(const Prepare& p, const Shape& out, int rhs_axis,
                                                int out_axis);

// Makes results of sums, in the types of the op. Reads scales and zero points at the start of a
// run.
class ProductResults {
 public:
  // Bytes of scratch for factors.
  static size_t ScratchBytes(const ProductScales& s) { return s.features * sizeof(FixedFactor); }
  // INVALID_ARGUMENT for scales that are not positive.
  static absl::StatusOr<ProductResults> Read(const ProductScales& s, const StepArgs& args,
                                             void* scratch);

  int32_t rhs_zero(int64_t feature) const {
    return ZeroAt(args_, s_.rhs_input() + 1, s_.per_feature ? feature : 0);
  }
  // Stores the sum of a feature as result i. `lhs_scale` counts in hybrid ops.
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

// How hybrid ops quantize values to int8: by their own range and 0.
struct RowScale {
  float scale, inverse;
  int32_t zero;

  static RowScale OfRange(float min, float max);
  int8_t operator()(float x) const {
    return static_cast<int8_t>(AffineQuantize(x, inverse, zero, {-128, 127}));
  }
};

}  // namespace tenon::cpu
