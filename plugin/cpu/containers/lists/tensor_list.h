// Lists of tensors: the values of the TensorList ops' variants.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// A list. A shared list must not be changed: Clone() it first, or take it by TakeList. Not
// thread-safe while it is changed.
class TensorList : public Object {
 public:
  static constexpr std::string_view kKind = "tensor list";
  std::string_view kind() const override { return kKind; }

  TensorList(DataType dtype, PartialShape shape)
      : element_dtype(dtype), element_shape(std::move(shape)) {}
  ObjectRef<TensorList> Clone() const;

  int64_t size() const { return size_; }
  // Returns element i, or an uninitialized tensor if the element was never set.
  Tensor Get(int64_t i) const {
    return i < static_cast<int64_t>(elements_.size()) ? elements_[i] : Tensor();
  }
  void Set(int64_t i, Tensor element);  // i < size()
  // RESOURCE_EXHAUSTED if memory cannot hold `size` elements. INVALID_ARGUMENT if size < 0.
  absl::Status Resize(int64_t size);
  absl::Status PushBack(Tensor element);
  Tensor PopBack();

  // Returns INVALID_ARGUMENT unless the elements have type `type`.
  absl::Status CheckType(DataType type) const;
  // Returns INVALID_ARGUMENT unless elements may have shape `shape`.
  absl::Status CheckShape(const Shape& shape) const;
  // What `shape` and the list's own element shape say together, and, where that leaves something
  // open, its elements. INVALID_ARGUMENT where they contradict each other.
  absl::StatusOr<PartialShape> ElementShape(const PartialShape& shape) const;

  DataType element_dtype;
  PartialShape element_shape;
  int64_t max_elements = -1;  // -1: any number

 private:
  int64_t size_ = 0;
  std::vector<Tensor> elements_;  // those behind were never set
};

absl::StatusOr<Tensor> ListTensor(ObjectRef<TensorList> list);

// A list that the run may change, and the list's handle: input i itself if no other tensor shares
// it, else a copy.
struct OwnList {
  Tensor handle;
  TensorList* list;
};
absl::StatusOr<OwnList> TakeList(const StepArgs& args, int i);

// Returns row i of a tensor, with shape `shape` of as many elements. The result shares the tensor's
// memory.
Tensor RowOf(const Tensor& tensor, int64_t i, const Shape& shape);
// Returns the elements from `begin` on as a tensor of shape `shape`. The result shares the tensor's
// memory.
Tensor PartOf(const Tensor& tensor, int64_t begin, const Shape& shape);
// Returns all dimensions but the first.
Shape RowShape(const Shape& shape);

}  // namespace tenon::cpu
