// Converts tensors to and from TensorProto bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// The dtype and the shape. TensorHeaderFromWire does not look at the elements; errors as of
// TensorFromWire.
struct TensorProtoHeader {
  DataType dtype = DataType::kInvalid;
  Shape shape;
};
absl::StatusOr<TensorProtoHeader> TensorHeaderFromWire(std::string_view wire);

// Decodes a tensor in any encoding: tensor_content; *_val lists; lists that leave out repetitions
// of their last value; no value, for zeros.
// With `owner`, plain elements that lie in one piece are not copied: the tensor views them, perhaps
// unaligned, and keeps `owner` alive.
// INVALID_ARGUMENT: sizes contradict each other. DATA_LOSS: malformed bytes. UNIMPLEMENTED:
// resources and variants. RESOURCE_EXHAUSTED: more than `max_bytes`, or than the machine's memory.
// A repeated value of a huge shape is refused before memory is allocated.
absl::StatusOr<Tensor> TensorFromWire(std::string_view wire,
                                      std::shared_ptr<const void> owner = nullptr,
                                      size_t max_bytes = size_t{1} << 36);

// Whether TensorFromWire would succeed, without allocating the tensor. Returns the errors of
// TensorFromWire but for a machine short of memory.
absl::StatusOr<TensorProtoHeader> CheckTensorWire(std::string_view wire,
                                                  size_t max_bytes = size_t{1} << 36);

// Encodes a host tensor: tensor_content for plain types, string_val for strings. UNIMPLEMENTED for
// resources and variants, INVALID_ARGUMENT for an uninitialized tensor.
absl::StatusOr<std::string> TensorToWire(const Tensor& tensor);
// Whether the bytes are laid out as TensorToWire lays out plain types: dtype, shape and
// tensor_content, and nothing else. False for bools: equal bools may have different bytes.
bool IsAsWritten(std::string_view wire);

}  // namespace tenon
