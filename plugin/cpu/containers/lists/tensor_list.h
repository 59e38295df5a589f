// Lists of tensors, the variants behind TensorList ops.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// A value: whoever shares it must not change it.
class TensorList : public Object {
 public:
  static constexpr std::string_view kKind = "tensor list";
  std::string_view kind() const override { return kKind; }

  TensorList(DataType dtype, PartialShape shape)
      : element_dtype(dtype), element_shape(std::move(shape)) {}
  ObjectRef<TensorList> Clone() const;

  int64_t size() const { return size_; }
  // The element, or an uninitialized tensor for one that was never set.
  Tensor Get(int64_t i) const {
    return i < static_cast<int64_t>(elements_.size()) ? elements_[i] : Tensor();
  }
  void Set(int64_t i, Tensor element);  // i < size()
  // RESOURCE_EXHAUSTED for more elements than memory is good for, INVALID_ARGUMENT for fewer than
  // 0.
  absl::Status Resize(int64_t size);
  absl::Status PushBack(Tensor element);
  Tensor PopBack();

  // INVALID_ARGUMENT unless elements are of this type …
  absl::Status CheckType(DataType type) const;
  // … and may have this shape.
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

// Input i as a list that may be changed, and the handle of it: the input's own if nobody else has
// it, else of a copy.
struct OwnList {
  Tensor handle;
  TensorList* list;
};
absl::StatusOr<OwnList> TakeList(const StepArgs& args, int i);

// Row i of a tensor, sharing its memory, of any shape with as many elements.
Tensor RowOf(const Tensor& tensor, int64_t i, const Shape& shape);
// Elements [begin, …) of a tensor as one of that shape, sharing its memory.
Tensor PartOf(const Tensor& tensor, int64_t begin, const Shape& shape);
// All dimensions but the first.
Shape RowShape(const Shape& shape);

}  // namespace tenon::cpu
