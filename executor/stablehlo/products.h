// Products and convolutions that other ops begin with. Private to executor/stablehlo/.
#pragma once

#include "absl/status/statusor.h"
#include "executor/stablehlo/op.h"

namespace tenon::stablehlo {

// The product of inputs 0 and 1 by the node's attributes, as MatMul, BatchMatMulV2 and Conv2D (or
// DepthwiseConv2dNative) have it. Half and bfloat16 give a float.
absl::StatusOr<Value> Multiply(Op& op);
absl::StatusOr<Value> MultiplyBatches(Op& op);
absl::StatusOr<Value> Convolve(Op& op, bool depthwise);

}  // namespace tenon::stablehlo
