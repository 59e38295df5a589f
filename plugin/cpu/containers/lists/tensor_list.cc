#include "plugin/cpu/containers/lists/tensor_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/whole_tensor.h"
namespace tenon::cpu {

ObjectRef<TensorList> TensorList::Clone() const {
  auto copy = ObjectRef<TensorList>::Make(element_dtype, element_shape);
  copy->max_elements = max_elements;
  copy->size_ = size_;
  copy->elements_ = elements_;
  return copy;
}

void TensorList::Set(int64_t i, Tensor element) {
  if (i >= static_cast<int64_t>(elements_.size())) elements_.resize(i + 1);
  elements_[i] = std::move(element);
}

absl::Status TensorList::Resize(int64_t size) {
  // A size is one number in a graph; elements that were never set take no memory until they are.
  constexpr int64_t kMostElements = int64_t{1} << 26;
  if (size < 0)
    return absl::InvalidArgumentError(absl::StrCat("a list cannot have ", size, " elements"));
  if (size > kMostElements) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a list of ", size, " elements; at most ", kMostElements, " are possible"));
  }
  if (size < static_cast<int64_t>(elements_.size())) elements_.resize(size);
  size_ = size;
  return absl::OkStatus();
}

absl::Status TensorList::PushBack(Tensor element) {
  if (max_elements >= 0 && size_ >= max_elements) {
    return absl::InvalidArgumentError(
        absl::StrCat("the list is full: it may have ", max_elements, " elements"));
  }
  TENON_RETURN_IF_ERROR(Resize(size_ + 1));
  Set(size_ - 1, std::move(element));
  return absl::OkStatus();
}

Tensor TensorList::PopBack() {
  --size_;
  if (size_ >= static_cast<int64_t>(elements_.size())) return Tensor();
  Tensor last = std::move(elements_.back());
  elements_.pop_back();
  return last;
}

absl::Status TensorList::CheckType(DataType type) const {
  if (type == element_dtype) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the list holds ", DataTypeName(element_dtype),
                                                 " elements, not ", DataTypeName(type)));
}

absl::Status TensorList::CheckShape(const Shape& shape) const {
  if (element_shape.CompatibleWith(shape)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("an element of shape ", shape.ToString(),
                                                 " does not fit a list of elements ",
                                                 element_shape.ToString()));
}

absl::StatusOr<PartialShape> TensorList::ElementShape(const PartialShape& shape) const {
  TENON_ASSIGN_OR_RETURN(PartialShape merged, element_shape.Merge(shape));
  for (size_t i = 0; i < elements_.size() && !merged.fully_defined(); ++i) {
    if (!elements_[i].initialized()) continue;
    TENON_ASSIGN_OR_RETURN(merged, merged.Merge(elements_[i].shape()));
  }
  return merged;
}

absl::StatusOr<Tensor> ListTensor(ObjectRef<TensorList> list) {
  return HandleTensor(DataType::kVariant, ObjectRef<Object>::Adopt(list.release()));
}

absl::StatusOr<OwnList> TakeList(const StepArgs& args, int i) {
  TENON_RETURN_IF_ERROR(InputAs<TensorList>(args, i).status());
  TENON_ASSIGN_OR_RETURN(Tensor handle, args.run_state->TakeInput(i));
  auto* list = ObjectAs<TensorList>(handle.ObjectAt(0));
  // Reference counts decide, no analysis: a list that nobody else sees is changed in place
  // (DESIGN.md).
  if (handle.buffer()->unique() && list->unique()) return OwnList{std::move(handle), list};
  ObjectRef<TensorList> copy = list->Clone();
  list = copy.get();
  TENON_ASSIGN_OR_RETURN(handle, ListTensor(std::move(copy)));
  return OwnList{std::move(handle), list};
}

Tensor PartOf(const Tensor& tensor, int64_t begin, const Shape& shape) {
  const auto size = static_cast<int64_t>(DataTypeSize(tensor.dtype()));
  return Tensor(
      tensor.dtype(), shape,
      BufferRef::Adopt(Buffer::View(tensor.buffer().get(), tensor.flat<char>() + begin * size,
                                    static_cast<size_t>(shape.num_elements() * size))));
}

Tensor RowOf(const Tensor& tensor, int64_t i, const Shape& shape) {
  return PartOf(tensor, i * shape.num_elements(), shape);
}

Shape RowShape(const Shape& shape) { return Shape(shape.dims().subspan(1)); }

}  // namespace tenon::cpu
