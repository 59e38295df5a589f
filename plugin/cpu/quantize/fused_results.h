// The steps behind the sums of fused quantized products: bias, a summand, an activation, another
// type. The answers are those of TensorFlow with oneDNN (DESIGN.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The steps of one op, in this order: bias, summand, activation, requantize or dequantize.
struct Fusion {
  // bias: input 2, one value per channel, is added. summand: a tensor of the result's shape is
  // added.
  bool bias = false, summand = false;
  Activation activation = Activation::kNone;
  // requantize: the result is an integer in the range that two inputs ask for. dequantize: the
  // result is floating point. Neither: the result is qint32, in the range of the sums. Never both.
  bool requantize = false, dequantize = false;
  float alpha = 0;  // LeakyRelu's slope
  // The op has lists of inputs: the summand is floating point, follows the bias, and has no range.
  // A fusion with a summand then dequantizes and has no activation.
  bool in_lists = false;
  bool symmetric = false;  // the range to report is the one asked for, widened to [-m, m]

  // Returns whether two inputs ask for a range. Ops with lists do not ask when they dequantize.
  bool AsksForRange() const { return requantize || (dequantize && !in_lists); }
};

// Turns the int32 sums of a quantized product into results. Inputs 0 and 1 are the factors. Behind
// them follow the bias, min and max of the first factor, of the second factor, and of the range
// asked for (AsksForRange), then the summand and, to requantize, its min and max; with in_lists the
// summand stands behind the bias. The second factor's min and max may be vectors: one range for
// each of the result's channels, its last dimension. Immutable once made; several runs share it.
class FusedResults {
 public:
  // Checks the shapes of the inputs behind the factors and sets the outputs' shapes: `out` for
  // output 0; scalars for all others if the op asks for a range, else the shape of the second
  // factor's min. Reserves no scratch memory. INVALID_ARGUMENT if a shape does not fit.
  static absl::StatusOr<FusedResults> Make(Prepare& p, const Fusion& fusion, const Shape& out);

  // The numbers of each channel. An integer result q is sum * factor + offset + summand *
  // summand_factor, after the activation and rounded (halves to even); q stands for q * `step`. A
  // floating-point result has step 1 and is not rounded to a whole number.
  struct Channels {
    double *factor, *offset, *summand_factor, *step;
    // Those from channel c on.
    Channels From(int64_t c) const {
      return {factor + c, offset + c, summand_factor + c, step + c};
    }
  };
  // Returns the bytes at the start of args.scratch that Start fills; the caller reserves them. They
  // are a multiple of kTensorAlignment.
  size_t ChannelBytes() const;
  // Computes all channels into args.scratch, once per run, and stores the result's range in outputs
  // 1 and 2, unless the op dequantizes. The channels live as long as the scratch memory.
  // INVALID_ARGUMENT if a scale is not positive, as that of [0, 0] is not: the scale of the first
  // factor's range, the greatest scale of the second factor's ranges or, to requantize, the scale
  // of the range asked for. UNIMPLEMENTED for a float bias of values that MIN_FIRST has quantized
  // from another min than 0.
  absl::StatusOr<Channels> Start(const StepArgs& args) const;

  // Stores the results of `n` sums, of channels 0 to n - 1, as elements i to i + n - 1 of output 0.
  // Integers saturate; NaN becomes the lowest. Thread-safe for disjoint elements.
  void Store(const StepArgs& args, const Channels& channels, const int32_t* sums, int64_t n,
             int64_t i) const {
    const bool relu = fusion_.activation == Activation::kRelu;
    if (!fusion_.summand && (relu || fusion_.activation == Activation::kNone) &&
        out_type_ != DataType::kBfloat16)
      return StoreMany(args, channels, sums, relu, n, i);
    switch (out_type_) {
      case DataType::kQint8:
        return StoreAs<int8_t>(args, channels, sums, n, i);
      case DataType::kQuint8:
        return StoreAs<uint8_t>(args, channels, sums, n, i);
      case DataType::kQint32:
        return StoreAs<int32_t>(args, channels, sums, n, i);
      case DataType::kBfloat16:
        for (int64_t c = 0; c < n; ++c)
          Bfloat16Element().Put(args.out[0], i + c, Of(args, channels, c, sums[c], i + c));
        return;
      default:
        for (int64_t c = 0; c < n; ++c) {
          static_cast<float*>(args.out[0])[i + c] =
              static_cast<float>(Of(args, channels, c, sums[c], i + c));
        }
    }
  }

 private:
  FusedResults() = default;
  double Summand(const void* data, int64_t i) const {
    switch (summand_type_) {
      case DataType::kQint8:
        return static_cast<const int8_t*>(data)[i];
      case DataType::kQuint8:
        return static_cast<const uint8_t*>(data)[i];
      case DataType::kBfloat16:
        return Bfloat16Element().As<double>(data, i);
      default:
        return static_cast<const float*>(data)[i];
    }
  }
  // Without a summand, and with no other activation than Relu.
  void StoreMany(const StepArgs& args, const Channels& channels, const int32_t* sums, bool relu,
                 int64_t n, int64_t i) const;
  double Of(const StepArgs& args, const Channels& channels, int64_t c, int32_t sum,
            int64_t i) const {
    double x = sum * channels.factor[c] + channels.offset[c];
    if (fusion_.summand) x += Summand(args.in[summand_], i) * channels.summand_factor[c];
    if (fusion_.activation == Activation::kNone) return x;
    if (fusion_.activation == Activation::kRelu) return std::max(x, 0.0);
    return Activate(fusion_.activation, fusion_.alpha, x * channels.step[c]) / channels.step[c];
  }
  template <typename T>
  void StoreAs(const StepArgs& args, const Channels& channels, const int32_t* sums, int64_t n,
               int64_t i) const {
    constexpr double kLowest = std::numeric_limits<T>::min(),
                     kHighest = std::numeric_limits<T>::max();
    for (int64_t c = 0; c < n; ++c) {
      const double x = std::nearbyint(Of(args, channels, c, sums[c], i + c));
      static_cast<T*>(args.out[0])[i + c] =
          static_cast<T>(std::min(std::max(kLowest, x), kHighest));  // NaN: the lowest
    }
  }

  Fusion fusion_;
  DataType in_type_, bias_type_, summand_type_, out_type_;
  int ranges_, summand_;            // input numbers: of the first range, of the summand
  int64_t channels_, range_count_;  // of the second factor: 1 or one for each channel
  bool min_first_ = false;
};

}  // namespace tenon::cpu
