// What one family of ops does for others. Private to executor/stablehlo/.
#pragma once

#include "absl/status/statusor.h"
#include "executor/stablehlo/op.h"
#include "graph/functions/function_graph.h"

namespace tenon::stablehlo {

// uint8 to uint64.
inline bool IsUnsignedInt(DataType t) {
  return t == DataType::kUint8 || t == DataType::kUint16 || t == DataType::kUint32 ||
         t == DataType::kUint64;
}

// The product of inputs 0 and 1 by the node's attributes, as MatMul, BatchMatMulV2 and Conv2D (or
// DepthwiseConv2dNative) have it. Half and bfloat16 give a float.
absl::StatusOr<Value> Multiply(Op& op);
absl::StatusOr<Value> MultiplyBatches(Op& op);
absl::StatusOr<Value> Convolve(Op& op, bool depthwise);

// x / y, rounded once. XLA makes a product with 1 / y of a division by an operand that is constant
// or that it has seen broadcast, and 110 / 110 below 1.
Value RoundedOnce(Op& op, const Value& x, const Value& y);

// The elements of x at these places of an axis, in their order.
Value GatherAxis(Op& op, const Value& x, int axis, IntSpan places);
// The same for places that are a vector of the program.
Value GatherAxis(Op& op, const Value& x, int axis, const Value& places);

// The argument of a function that a result, a node of its body, hands on unchanged; -1: none.
int ArgumentOf(const FunctionGraph& f, NodeId result);

// AddN and ZerosLike of TensorLists.
absl::Status SumOfLists(Op& op);
absl::Status ZerosLikeList(Op& op);

}  // namespace tenon::stablehlo
