// TensorProto bytes to tensors and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Dtype and shape alone, without the elements.
struct TensorProtoHeader {
  DataType dtype = DataType::kInvalid;
  Shape shape;
};
absl::StatusOr<TensorProtoHeader> TensorHeaderFromWire(std::string_view wire);

// Decodes every encoding: tensor_content, *_val lists, lists that leave out repeats of the last
// value, no value for zeros. `tensor_content` of plain types is not copied if `owner` is given: the
// tensor views it (perhaps unaligned) and keeps owner alive. INVALID_ARGUMENT where sizes
// contradict each other, DATA_LOSS for malformed bytes, RESOURCE_EXHAUSTED for shapes beyond
// `max_bytes`: a splat of a huge shape is refused before it is allocated.
absl::StatusOr<Tensor> TensorFromWire(std::string_view wire,
                                      std::shared_ptr<const void> owner = nullptr,
                                      size_t max_bytes = size_t{1} << 36);

// Whether TensorFromWire would succeed, without its memory: the same errors but for a machine short
// of memory.
absl::StatusOr<TensorProtoHeader> CheckTensorWire(std::string_view wire,
                                                  size_t max_bytes = size_t{1} << 36);

// Uses tensor_content for plain types, string_val for strings. UNIMPLEMENTED for resource and
// variant.
absl::StatusOr<std::string> TensorToWire(const Tensor& tensor);
// Whether these bytes of a TensorProto are laid out as TensorToWire does it, elements in one piece.
bool IsAsWritten(std::string_view wire);

}  // namespace tenon
