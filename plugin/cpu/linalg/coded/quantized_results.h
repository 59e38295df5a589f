// What products and convolutions make of their sums of bytes: floats, then what is fused.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/cpu/linalg/coded/quantized_loops.h"
#include "plugin/cpu/linalg/products/activation_loop.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Of ops whose inputs 2 and 3 are the scales and zeros of the columns of the right side. Immutable;
// thread-safe.
class QuantizedResults {
 public:
  static constexpr int kFirstArg = 4;  // the first input of what is fused

  // INVALID_ARGUMENT unless there is a scale and a zero for each of n columns.
  static absl::StatusOr<QuantizedResults> Read(const Prepare& p, const FusedOps& fused, int64_t n);

  absl::Span<const int32_t> zeros(const StepArgs& args) const {
    return {static_cast<const int32_t*>(args.in[kZeros]), static_cast<size_t>(n_)};
  }
  // Sums of `rows` rows of the right side's columns [begin, end), which are `row` numbers apart.
  struct Sums {
    const int32_t* sums;
    int64_t row, rows, begin, end;
    const int32_t* offsets;  // to subtract from each column's; null for zeros
  };
  // Stores their results as columns of output 0's rows, from row `first` on. `scale` is that of the
  // left side.
  void Store(const StepArgs& args, const Sums& sums, float scale, int64_t first) const;

 private:
  static constexpr int kScales = 2, kZeros = 3;
  QuantizedResults(const FusedOps& fused, int64_t n);

  int bias_, add_;  // the inputs, or -1
  int64_t n_;
  float floor_, ceiling_;                // of Relu and its like
  std::optional<ActivationLoop> other_;  // activation
  const QuantizedLoops* loops_ = &ChooseQuantizedLoops();
};

}  // namespace tenon::cpu
