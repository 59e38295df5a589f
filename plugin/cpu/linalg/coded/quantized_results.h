// What products and convolutions make of their sums of bytes: floats, then what is fused.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/cpu/linalg/coded/following.h"
#include "plugin/cpu/linalg/coded/quantized_loops.h"
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
  // Stores the results of `sums`, [rows, columns] of them, from element `at` of output 0 on. They
  // begin at column `first`; several rows must have all columns. `scale` is that of the left side.
  void Store(const StepArgs& args, const int32_t* sums, int64_t rows, int64_t columns, float scale,
             int64_t first, int64_t at) const;

 private:
  static constexpr int kScales = 2, kZeros = 3;
  QuantizedResults(const FusedOps& fused, int64_t n)
      : bias_(fused.bias), n_(n), following_(fused, /*adds_bias=*/false) {}

  int bias_;  // the input, or -1
  int64_t n_;
  Following following_;
  const QuantizedLoops* loops_ = &ChooseQuantizedLoops();
};

}  // namespace tenon::cpu
