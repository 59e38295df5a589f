// Changes of a tensor in its own memory.
#pragma once

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon::cpu {

// Copies the tensor into a buffer of its own, unless the tensor alone has its buffer and may write
// to it.
absl::Status MakeWritable(Tensor& tensor);

// Returns whether `op` can combine elements of type `type`.
bool CanCombine(ElementOp op, DataType type);
// Computes target = op(target, value), element by element, split over `workers`. Both tensors have
// the same shape and the same type; CanCombine(op, type) holds.
absl::Status CombineInto(ElementOp op, const Tensor& value, const Tensor& target, Workers* workers);

}  // namespace tenon::cpu
