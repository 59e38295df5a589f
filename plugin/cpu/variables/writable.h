// Changing a tensor where it lies.
#pragma once

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon::cpu {

// The tensor gets a buffer of its own if anybody else shares it or it is not ours to write to.
absl::Status MakeWritable(Tensor& tensor);

// Whether elements of the type can be combined so.
bool CanCombine(ElementOp op, DataType type);
// target = op(target, value), element by element; both have one shape and type, which CanCombine.
absl::Status CombineInto(ElementOp op, const Tensor& value, const Tensor& target, Workers* workers);

}  // namespace tenon::cpu
