// Converts tensors to and from TensorProto bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// The dtype and the shape of a tensor. TensorHeaderFromWire reads them without a look at the
// elements. INVALID_ARGUMENT for a dtype or a shape that no value can have, DATA_LOSS for malformed
// bytes.
struct TensorProtoHeader {
  DataType dtype = DataType::kInvalid;
  Shape shape;
};
absl::StatusOr<TensorProtoHeader> TensorHeaderFromWire(std::string_view wire);

// Decodes a tensor in any encoding: tensor_content; *_val lists; lists that leave out repetitions
// of their last value; no value, for zeros and empty strings. Values beyond the number of elements
// are ignored. tensor_content wins over a list.
// With `owner`, which must keep `wire` alive, plain elements that lie in one piece are not copied:
// the tensor views them, perhaps unaligned, and keeps `owner` alive. Such a buffer is read-only.
// Bools are always copied, since a file may hold a true one as any byte but 0.
// INVALID_ARGUMENT: the dtype or shape is none of a value, or sizes contradict each other.
// DATA_LOSS: malformed bytes.
// UNIMPLEMENTED: resources and variants.
// RESOURCE_EXHAUSTED: elements of more than `max_bytes`, in which the text of strings does not
// count; elements that must be decoded, or repetitions of the last string, that take more than 64
// MiB and also more than three quarters of the machine's memory; or memory is short. A repeated
// value of a huge shape is refused before memory is allocated. Throws bad_alloc where
// Tensor::SetString does.
absl::StatusOr<Tensor> TensorFromWire(std::string_view wire,
                                      std::shared_ptr<const void> owner = nullptr,
                                      size_t max_bytes = size_t{1} << 36);

// Checks whether TensorFromWire would succeed, without allocating the tensor, and returns the
// header. Returns the errors of TensorFromWire, except that it looks at no limit but `max_bytes`.
absl::StatusOr<TensorProtoHeader> CheckTensorWire(std::string_view wire,
                                                  size_t max_bytes = size_t{1} << 36);

// Encodes a host tensor: tensor_content for plain types, string_val for strings. Equal tensors of
// plain types but bool give equal bytes. UNIMPLEMENTED for resources and variants, INVALID_ARGUMENT
// for an uninitialized tensor.
absl::StatusOr<std::string> TensorToWire(const Tensor& tensor);
// TensorToWire in the form in which TensorFlow's clients write attributes: one element stands in
// the list field of its type, and several strings stand in tensor_content.
absl::StatusOr<std::string> TensorToAttrWire(const Tensor& tensor);
// Whether the bytes are a tensor of a plain type, of 1 to 1024 bytes, that TensorFromWire is sure
// to decode, since the fields come as TensorToAttrWire writes them. False for empty tensors, and
// for a bool that is not laid out as one element. Much cheaper than CheckTensorWire.
bool IsSmallAsWritten(std::string_view wire);
// Whether the bytes are laid out as TensorToWire lays out plain types: dtype, shape and
// tensor_content in this order, and nothing else. Two equal tensors that protobuf wrote, and for
// which IsAsWritten is true, have equal bytes, unless a shape has names of dimensions. False for
// bools: equal bools may have different bytes. False for empty tensors, which have no
// tensor_content.
bool IsAsWritten(std::string_view wire);

}  // namespace tenon
