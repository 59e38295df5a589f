// Shared code of the products of uniformly quantized values: the scales of operands and results,
// and the conversion of sums to results.
#pragma once

#include "plugin/cpu/quantize/uniform/affine.h"

namespace tenon::cpu {

// The scales of a product. The rhs has one scale for all output features or one for each; so has
// the output, unless the op is hybrid.
struct ProductScales {
  bool hybrid;       // the lhs is float, each row quantized in the run; the output is float
  int64_t features;  // of the output; the caller sets the number
  bool per_feature;  // the rhs has a scale for each feature
  // Read only if not hybrid.
  bool out_per_feature = false;
  QuantizedLimits limits{};

  // Input numbers of the scales. The zero points are in the input behind each.
  int rhs_input() const { return hybrid ? 2 : 4; }
  static constexpr int kLhsInput = 2, kOutInput = 6;
};

// Reads the scales' shapes and the output's limits. `rhs_axis` and `out_axis` are the axes of
// output features in the rhs and in the output `out`, -1 for one scale. A node of four inputs is
// hybrid. INVALID_ARGUMENT if the shapes do not fit.
absl::StatusOr<ProductScales> ReadProductScales(const Prepare& p, const Shape& out, int rhs_axis,
                                                int out_axis);

// Makes results of int32 sums, in the types of the op. Lives within one run: refers to the run's
// scales, arguments and scratch memory. Thread-safe once made.
class ProductResults {
 public:
  // The bytes of scratch memory that Read fills with factors.
  static size_t ScratchBytes(const ProductScales& s) { return s.features * sizeof(FixedFactor); }
  // Reads scales and zero points at the start of a run. INVALID_ARGUMENT for scales that are not
  // positive. `s`, `args` and `scratch` must outlive the result.
  static absl::StatusOr<ProductResults> Read(const ProductScales& s, const StepArgs& args,
                                             void* scratch);

  // Returns the zero point of the rhs for a feature.
  int32_t rhs_zero(int64_t feature) const {
    return ZeroAt(args_, s_.rhs_input() + 1, s_.per_feature ? feature : 0);
  }
  // Stores the sum of a feature as element i of output 0. `lhs_scale` is the scale of the lhs row;
  // read in hybrid ops only.
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

  // Returns the quantization of values in [min, max], widened to hold 0. Scale 1 and zero point 0
  // if the range has no width that float can divide by.
  static RowScale OfRange(float min, float max);
  int8_t operator()(float x) const {
    return static_cast<int8_t>(AffineQuantize(x, inverse, zero, {-128, 127}));
  }
};

}  // namespace tenon::cpu
