// Lists of tensors: the values of the TensorList ops' variants.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// A list of tensors of one type. Elements may differ in shape within element_shape; the list does
// not check types and shapes, the caller does (CheckType, CheckShape). A list that several tensors
// share must not be changed: change a Clone(), or get the list by TakeList. Not thread-safe while a
// thread changes it.
class TensorList : public Object {
 public:
  static constexpr std::string_view kKind = "tensor list";
  std::string_view kind() const override { return kKind; }

  TensorList(DataType dtype, PartialShape shape)
      : element_dtype(dtype), element_shape(std::move(shape)) {}
  // Returns a copy of the list, with max_elements. The elements' buffers are shared.
  ObjectRef<TensorList> Clone() const;

  int64_t size() const { return size_; }
  // Returns element i, or an uninitialized tensor if the element is unset. i >= 0; elements from
  // size() on count as unset.
  Tensor Get(int64_t i) const {
    return i < static_cast<int64_t>(elements_.size()) ? elements_[i] : Tensor();
  }
  // Replaces element i, which must exist: 0 <= i < size(). An uninitialized tensor unsets it.
  void Set(int64_t i, Tensor element);
  // Sets the number of elements: drops elements from the end, or adds unset ones. Does not look at
  // max_elements. INVALID_ARGUMENT if size < 0. RESOURCE_EXHAUSTED above 2^26 elements.
  absl::Status Resize(int64_t size);
  // Appends an element. INVALID_ARGUMENT if the list has max_elements already. RESOURCE_EXHAUSTED
  // as of Resize.
  absl::Status PushBack(Tensor element);
  // Removes the last element and returns it; an uninitialized tensor if the element was unset. Only
  // if size() > 0.
  Tensor PopBack();

  // Returns INVALID_ARGUMENT unless the elements have type `type`.
  absl::Status CheckType(DataType type) const;
  // Returns INVALID_ARGUMENT unless elements may have shape `shape`.
  absl::Status CheckShape(const Shape& shape) const;
  // Returns the shape of the elements: `shape` merged with element_shape and, until all dimensions
  // are known, with the shapes of the set elements, from the first on. INVALID_ARGUMENT if two of
  // the merged shapes contradict each other; shapes that are not merged are not compared.
  absl::StatusOr<PartialShape> ElementShape(const PartialShape& shape) const;

  DataType element_dtype;
  PartialShape element_shape;
  int64_t max_elements = -1;  // the limit of PushBack; negative: none

 private:
  int64_t size_ = 0;
  std::vector<Tensor> elements_;  // at most size_ elements; any further element is unset
};

// Returns a variant scalar that owns the list. RESOURCE_EXHAUSTED if memory is short.
absl::StatusOr<Tensor> ListTensor(ObjectRef<TensorList> list);

// A list that the run may change, and the list's handle. `list` lives as long as `handle`.
struct OwnList {
  Tensor handle;
  TensorList* list;
};
// Takes input i (RunState::TakeInput), a list in a tensor of one element. If nothing else shares
// the tensor or the list, the result is the input itself, else a new handle with a clone.
// INVALID_ARGUMENT if the input holds no list. RESOURCE_EXHAUSTED if memory is short.
absl::StatusOr<OwnList> TakeList(const StepArgs& args, int i);

// Returns row i of a tensor as a tensor of shape `shape`, which must have as many elements as a
// row. The result shares ownership of the tensor's buffer; its data may be less aligned than
// kTensorAlignment.
Tensor RowOf(const Tensor& tensor, int64_t i, const Shape& shape);
// Returns the elements from number `begin` on as a tensor of shape `shape`. The result shares
// ownership of the tensor's buffer; its data may be less aligned than kTensorAlignment.
Tensor PartOf(const Tensor& tensor, int64_t begin, const Shape& shape);
// Returns all dimensions but the first. The rank is at least 1.
Shape RowShape(const Shape& shape);

}  // namespace tenon::cpu
