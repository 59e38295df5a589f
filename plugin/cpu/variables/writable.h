// Changes of a tensor in its own memory.
#pragma once

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon::cpu {

// Lets the caller write to the tensor's elements. If another tensor shares the buffer, or the
// buffer is a view or wraps memory, first gives the tensor a buffer of its own, with a copy of the
// elements. The tensor must be initialized, and in host memory. RESOURCE_EXHAUSTED if memory is
// short; a copy of strings may throw bad_alloc too (Tensor::Copy). The tensor is unchanged then.
absl::Status MakeWritable(Tensor& tensor);

// Returns whether CombineInto has loops for `op` on elements of type `type`. Here and in
// CombineInto `op` must take two operands and give their type; nothing checks it.
bool CanCombine(ElementOp op, DataType type);
// Computes target = op(target, value), element by element, split over `workers`. Both tensors have
// the same number of elements and the same type. The caller may write to the target's memory
// (MakeWritable). `value` may be the target itself. `workers` must not be null. UNIMPLEMENTED
// unless CanCombine(op, type); the target is unchanged then.
absl::Status CombineInto(ElementOp op, const Tensor& value, const Tensor& target, Workers* workers);

}  // namespace tenon::cpu
