// The steps behind the sums of fused quantized products: bias, a summand, an activation, another
// type.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Which steps an op takes. `requantize`: to the range that two inputs ask for, else the sums' own.
// `in_lists`: the op has lists of inputs, where the summand stands behind the bias and no range is
// asked for by those that dequantize.
struct Fusion {
  bool bias = false, summand = false;
  Activation activation = Activation::kNone;
  bool requantize = false, dequantize = false;
  float alpha = 0;  // LeakyRelu's slope
  bool in_lists = false;
  bool symmetric = false;  // what was asked for is widened to a range around 0

  bool AsksForRange() const { return requantize || (dequantize && !in_lists); }
};

// Reads and checks the inputs behind the two factors: bias, ranges of both, range asked for,
// summand with its range. The second factor's may be vectors with one range for each of the
// result's channels.
class FusedResults {
 public:
  // Sets the outputs' shapes.
  static absl::StatusOr<FusedResults> Make(Prepare& p, const Fusion& fusion, const Shape& out);

  // What becomes of sums of one channel: rounded(sum * factor + offset + summand * summand_factor),
  // in steps of `step`.
  struct Channel {
    double factor, offset, summand_factor, step;
  };
  // Of the scratch, which begins with them.
  size_t ChannelBytes() const;
  // Reads the ranges and the bias into the scratch and stores the result's range. INVALID_ARGUMENT
  // for ranges without width.
  absl::StatusOr<const Channel*> Start(const StepArgs& args) const;

  // Stores `n` sums, of channels 0 to n - 1, as results from `i` on.
  void Store(const StepArgs& args, const Channel* channels, const int32_t* sums, int64_t n,
             int64_t i) const {
    switch (out_type_) {
      case DataType::kQint8:
        return StoreAs<int8_t>(args, channels, sums, n, i);
      case DataType::kQuint8:
        return StoreAs<uint8_t>(args, channels, sums, n, i);
      case DataType::kQint32:
        return StoreAs<int32_t>(args, channels, sums, n, i);
      case DataType::kBfloat16:
        for (int64_t c = 0; c < n; ++c)
          Bfloat16Element().Put(args.out[0], i + c, Of(args, channels[c], sums[c], i + c));
        return;
      default:
        for (int64_t c = 0; c < n; ++c) {
          static_cast<float*>(args.out[0])[i + c] =
              static_cast<float>(Of(args, channels[c], sums[c], i + c));
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
  double Of(const StepArgs& args, const Channel& channel, int32_t sum, int64_t i) const {
    double x = sum * channel.factor + channel.offset;
    if (fusion_.summand) x += Summand(args.in[summand_], i) * channel.summand_factor;
    if (fusion_.activation == Activation::kNone) return x;
    if (fusion_.activation == Activation::kRelu) return std::max(x, 0.0);
    return Activate(fusion_.activation, fusion_.alpha, x * channel.step) / channel.step;
  }
  template <typename T>
  void StoreAs(const StepArgs& args, const Channel* channels, const int32_t* sums, int64_t n,
               int64_t i) const {
    constexpr double kLowest = std::numeric_limits<T>::min(),
                     kHighest = std::numeric_limits<T>::max();
    for (int64_t c = 0; c < n; ++c) {
      const double x = std::nearbyint(Of(args, channels[c], sums[c], i + c));
      static_cast<T*>(args.out[0])[i + c] =
          static_cast<T>(std::min(std::max(kLowest, x), kHighest));  // NaN: the lowest
    }
  }

  Fusion fusion_;
  DataType in_type_, bias_type_, summand_type_, out_type_;
  int ranges_, summand_;            // the first input of ranges; that which is added
  int64_t channels_, range_count_;  // of the second factor: 1 or one for each channel
  bool min_first_ = false;
};

}  // namespace tenon::cpu
