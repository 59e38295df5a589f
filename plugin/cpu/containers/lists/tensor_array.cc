#include "plugin/cpu/containers/lists/tensor_array.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/variables/writable.h"

namespace tenon::cpu {

absl::Status TensorArray::CheckOpen() const {
  if (!closed_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the array '", name(), "' is closed"));
}

absl::Status TensorArray::Grow(int64_t size) {
  // A size is one number in a graph; without a bound it could ask for any amount of memory.
  constexpr int64_t kMostElements = int64_t{1} << 24;
  if (size > kMostElements) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an array of ", size, " tensors; at most ", kMostElements, " are possible"));
  }
  elements_.resize(size);
  return absl::OkStatus();
}

absl::Status TensorArray::Resize(int64_t size) {
  absl::MutexLock lock(&mutex_);
  if (size < 0)
    return absl::InvalidArgumentError(absl::StrCat("an array cannot have ", size, " elements"));
  return Grow(size);
}

absl::Status TensorArray::Write(int64_t i, Tensor value) {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  const auto size = static_cast<int64_t>(elements_.size());
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("element ", i, " of array '", name(), "' cannot be written: ", why));
  };
  if (i < 0) return refuse("the index is negative");
  if (i >= size && !options_.dynamic_size)
    return refuse(absl::StrCat("the array has ", size, " elements and does not grow"));
  if (value.dtype() != dtype_) {
    return refuse(absl::StrCat("the value is ", DataTypeName(value.dtype()), ", elements are ",
                               DataTypeName(dtype_)));
  }
  if (!options_.element_shape.CompatibleWith(value.shape())) {
    return refuse(absl::StrCat("the value has shape ", value.shape().ToString(), ", elements have ",
                               options_.element_shape.ToString()));
  }
  if (i >= size) TENON_RETURN_IF_ERROR(Grow(i + 1));
  Element& e = elements_[i];
  if (e.read) return refuse("it has been read");
  if (e.written && !options_.adds_up) return refuse("it has been written");
  if (options_.identical_shapes && !options_.element_shape.fully_defined())
    options_.element_shape = value.shape();
  if (!e.written) {
    e.shape = value.shape();
    e.value = std::move(value);
    e.written = true;
    return absl::OkStatus();
  }
  if (!(e.value.shape() == value.shape())) {
    return refuse(absl::StrCat("a gradient of shape ", value.shape().ToString(),
                               " is added to one of ", e.value.shape().ToString()));
  }
  TENON_RETURN_IF_ERROR(MakeWritable(e.value));
  // Alone, since the lock is held.
  Workers alone(1);
  return CombineInto(ElementOp::kAdd, value, e.value, &alone);
}

// What stands for an element that was not written.
absl::StatusOr<Tensor> TensorArray::Zeros(const Element& e, int64_t i) {
  const std::optional<Shape> shape =
      e.shape.has_value() ? e.shape : options_.element_shape.ToShape();
  if (!shape.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("element ", i, " of array '", name(),
                     "' has not been written, and the shape of the elements is not known: ",
                     options_.element_shape.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(dtype_, *shape));
  std::memset(zeros.data(), 0, zeros.bytes());
  return zeros;
}

absl::StatusOr<Tensor> TensorArray::Read(int64_t i) {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  if (i < 0 || i >= static_cast<int64_t>(elements_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no element ", i, " in array '", name(), "' of ", elements_.size()));
  }
  Element& e = elements_[i];
  if (e.cleared) {
    return absl::InvalidArgumentError(absl::StrCat(
        "element ", i, " of array '", name(),
        "' was cleared when it was read before; 'clear_after_read' false would keep it"));
  }
  if (!e.written) return Zeros(e, i);
  e.read = true;
  if (!options_.clear_after_read) return e.value;
  e.cleared = true;
  return std::exchange(e.value, Tensor());
}

absl::StatusOr<int64_t> TensorArray::Size() {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  return static_cast<int64_t>(elements_.size());
}

void TensorArray::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  elements_.clear();
}

bool TensorArray::dynamic_size() {
  absl::MutexLock lock(&mutex_);
  return options_.dynamic_size;
}

PartialShape TensorArray::element_shape() {
  absl::MutexLock lock(&mutex_);
  return options_.element_shape;
}

absl::StatusOr<ObjectRef<TensorArray>> TensorArray::Gradient(std::string_view source,
                                                             const Shape& prepended) {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckOpen());
  const auto known = gradients_.find(source);
  if (known != gradients_.end()) return known->second;
  Options options = options_;
  options.dynamic_size = false;
  options.adds_up = true;
  options.clear_after_read = true;
  const auto prepend = [&](absl::Span<const int64_t> dims) {
    Dims all(prepended.dims().begin(), prepended.dims().end());
    all.insert(all.end(), dims.begin(), dims.end());
    return all;
  };
  if (options.element_shape.known_rank()) {
    TENON_ASSIGN_OR_RETURN(options.element_shape,
                           PartialShape::Make(prepend(options_.element_shape.dims())));
  }
  auto gradient = ObjectRef<TensorArray>::Make(absl::StrCat(name(), "@", source), options);
  // An array's lock is always taken before that of its gradient, and a gradient never locks its
  // array.
  absl::MutexLock gradient_lock(&gradient->mutex_);
  TENON_RETURN_IF_ERROR(gradient->Grow(static_cast<int64_t>(elements_.size())));
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (!elements_[i].shape.has_value()) continue;
    TENON_ASSIGN_OR_RETURN(gradient->elements_[i].shape,
                           Shape::Make(prepend(elements_[i].shape->dims())));
  }
  // As in TensorFlow: the gradient's array has the size of this moment, and could not follow a
  // growing one.
  options_.dynamic_size = false;
  return gradients_.emplace(source, std::move(gradient)).first->second;
}

}  // namespace tenon::cpu
