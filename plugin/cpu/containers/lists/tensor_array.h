// Arrays of tensors that are usually written once and read once: TensorArrayV3 and its
// predecessors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon::cpu {

// Each run of the op makes an array. The array lives as long as its last handle. Thread-safe.
class TensorArray : public Resource {
 public:
  static constexpr std::string_view kKind = "tensor array";
  std::string_view kind() const override { return kKind; }

  struct Options {
    DataType dtype = DataType::kInvalid;
    PartialShape element_shape;
    bool dynamic_size = false;
    bool clear_after_read = true;
    bool identical_shapes = false;
    bool adds_up = false;  // several writes to one place are summed: arrays of gradients
  };
  TensorArray(std::string_view name, Options options)
      : Resource(name), dtype_(options.dtype), options_(std::move(options)) {}

  // Sets the number of elements; a new element is not written. INVALID_ARGUMENT if size < 0.
  // RESOURCE_EXHAUSTED above 2^24 elements.
  absl::Status Resize(int64_t size);
  // Stores `value` as element i, without a copy. Grows the array if dynamic_size. If adds_up, a
  // further write adds `value` to the element instead. INVALID_ARGUMENT for a closed array, an
  // index out of range, an element that was written (unless adds_up) or read, and a dtype or shape
  // that does not fit.
  absl::Status Write(int64_t i, Tensor value);
  // Returns element i. With clear_after_read, the array gives the element up, and a second Read
  // fails. An element that was not written is read as zeros if a shape is known. INVALID_ARGUMENT
  // for a closed array, an index out of range, a cleared element, and an unwritten element without
  // a known shape.
  absl::StatusOr<Tensor> Read(int64_t i);
  // Returns the number of elements. INVALID_ARGUMENT for a closed array.
  absl::StatusOr<int64_t> Size();
  // Drops all elements. Later calls of Write, Read, Size and Gradient fail.
  void Close();
  // Returns the array of gradients for `source`, which adds up. The first call for a name makes the
  // array, with as many elements; from then on this array does not grow. An element of the gradient
  // has the element's shape with `prepended` in front. INVALID_ARGUMENT for a closed array.
  absl::StatusOr<ObjectRef<TensorArray>> Gradient(std::string_view source, const Shape& prepended);

  DataType dtype() const { return dtype_; }
  bool dynamic_size();
  // With identical_shapes, the first Write makes this the shape of its value.
  PartialShape element_shape();

 private:
  struct Element {
    Tensor value;
    std::optional<Shape> shape;  // of the value, also when it was cleared; of zeros in gradients
    bool written = false, read = false, cleared = false;
  };
  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Grow(int64_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Tensor> Zeros(const Element& e, int64_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DataType dtype_;
  absl::Mutex mutex_;
  Options options_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Element> elements_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, ObjectRef<TensorArray>, std::less<>> gradients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::cpu
