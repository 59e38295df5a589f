// Types of elements: TensorFlow's and PJRT's.
#pragma once

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "tenon/pjrt/abi.h"

namespace tenon::pjrt {

// The type in a PJRT buffer whose elements have the same bytes. UNIMPLEMENTED, naming the type, for
// strings, resources, variants and types that PJRT packs otherwise (those below 8 bits). Quantized
// types become plain integers.
absl::StatusOr<abi::ElementType> ToElementType(DataType type);
// kInvalid for a type that has no tensors here. Never a quantized type.
DataType ToDataType(abi::ElementType type);

}  // namespace tenon::pjrt
