// Lists of tensors: the values of the TensorList ops' variants.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// A list. A list that several tensors share must not be changed: Clone() it first, or take it by
// TakeList. Not thread-safe while a thread changes it. Elements may differ in shape within
// element_shape; the caller checks types and shapes (CheckType, CheckShape).
class TensorList : public Object {
 public:
  static constexpr std::string_view kKind = "tensor list";
  std::string_view kind() const override { return kKind; }

  TensorList(DataType dtype, PartialShape shape)
      : element_dtype(dtype), element_shape(std::move(shape)) {}
  // Returns a copy of the list. The elements' buffers are shared.
  ObjectRef<TensorList> Clone() const;

  int64_t size() const { return size_; }
  // Returns element i, or an uninitialized tensor if the element was never set.
  Tensor Get(int64_t i) const {
    return i < static_cast<int64_t>(elements_.size()) ? elements_[i] : Tensor();
  }
  void Set(int64_t i, Tensor element);  // i < size()
  // Sets the number of elements; new elements are unset. Does not look at max_elements.
  // INVALID_ARGUMENT if size < 0. RESOURCE_EXHAUSTED above 2^26 elements.
  absl::Status Resize(int64_t size);
  // Appends an element. INVALID_ARGUMENT if the list has max_elements already.
  absl::Status PushBack(Tensor element);
  // Removes and returns the last element; an uninitialized tensor if unset. Only if size() > 0.
  Tensor PopBack();

  // Returns INVALID_ARGUMENT unless the elements have type `type`.
  absl::Status CheckType(DataType type) const;
  // Returns INVALID_ARGUMENT unless elements may have shape `shape`.
  absl::Status CheckShape(const Shape& shape) const;
  // Returns the element shape that `shape` and the list's element_shape give together. If
  // dimensions stay unknown, the shapes of the set elements are merged in, too. INVALID_ARGUMENT
  // where two shapes contradict each other.
  absl::StatusOr<PartialShape> ElementShape(const PartialShape& shape) const;

  DataType element_dtype;
  PartialShape element_shape;
  int64_t max_elements = -1;  // -1: any number

 private:
  int64_t size_ = 0;
  std::vector<Tensor> elements_;  // at most size_ elements; any further element is unset
};

// Returns a variant scalar that owns the list.
absl::StatusOr<Tensor> ListTensor(ObjectRef<TensorList> list);

// A list that the run may change, and the list's handle. `list` lives as long as `handle`.
struct OwnList {
  Tensor handle;
  TensorList* list;
};
// Takes input i, a scalar list. The result is the input itself if nothing else shares handle or
// list, else a handle of a clone. INVALID_ARGUMENT if the input is no list.
absl::StatusOr<OwnList> TakeList(const StepArgs& args, int i);

// Returns row i of a tensor, with shape `shape`, which has as many elements as a row. The result
// shares ownership of the tensor's buffer; its data may be less aligned than kTensorAlignment.
Tensor RowOf(const Tensor& tensor, int64_t i, const Shape& shape);
// Returns the elements from number `begin` on as a tensor of shape `shape`. The result shares
// ownership of the tensor's buffer; its data may be less aligned than kTensorAlignment.
Tensor PartOf(const Tensor& tensor, int64_t begin, const Shape& shape);
// Returns all dimensions but the first. The rank is at least 1.
Shape RowShape(const Shape& shape);

}  // namespace tenon::cpu
