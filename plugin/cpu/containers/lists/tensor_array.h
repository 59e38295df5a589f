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

// Each run of op TensorArrayV3 (or a predecessor) makes an array of its own, which has no elements
// before Resize. The array lives as long as the last reference to it. Thread-safe.
class TensorArray : public Resource {
 public:
  static constexpr std::string_view kKind = "tensor array";
  std::string_view kind() const override { return kKind; }

  struct Options {
    DataType dtype = DataType::kInvalid;
    PartialShape element_shape;
    bool dynamic_size = false;
    bool clear_after_read = true;
    bool identical_shapes = false;  // all elements have the shape of the first one written
    bool adds_up = false;  // further writes of an element are added to it: arrays of gradients
  };
  TensorArray(std::string_view name, Options options)
      : Resource(name), dtype_(options.dtype), options_(std::move(options)) {}

  // Sets the number of elements, also of a closed array and of one without dynamic_size. Elements
  // beyond the new end are dropped; new elements count as not written. INVALID_ARGUMENT for a
  // negative size. RESOURCE_EXHAUSTED above 2^24 elements.
  absl::Status Resize(int64_t size);
  // Stores `value` as element i, without a copy. With dynamic_size, an i beyond the end makes the
  // array grow to i + 1 elements. With adds_up, a write of an element that was written adds `value`
  // to it.
  //   INVALID_ARGUMENT: a closed array, an index out of range, another dtype, a shape that
  //   element_shape or, for a sum, the element does not allow, an element that was written (unless
  //   adds_up), an element that was written and then read.
  //   RESOURCE_EXHAUSTED: the array would have more than 2^24 elements, or memory is short.
  //   UNIMPLEMENTED: a sum of a dtype without addition.
  absl::Status Write(int64_t i, Tensor value);
  // Returns element i. With clear_after_read, the array gives the element up, and a second Read
  // fails. An element that was not written is read as zeros, any number of times, and can still be
  // written. The zeros have the shape that Gradient has given the element, else element_shape.
  // INVALID_ARGUMENT for a closed array, an index out of range, a cleared element, and an unwritten
  // element without a known shape. RESOURCE_EXHAUSTED if memory for zeros is short.
  absl::StatusOr<Tensor> Read(int64_t i);
  // Returns the number of elements. INVALID_ARGUMENT for a closed array.
  absl::StatusOr<int64_t> Size();
  // Drops all elements. Later calls of Write, Read, Size and Gradient fail. Arrays of gradients
  // stay open. A second call changes nothing.
  void Close();
  // Returns the array of gradients of this array for the name `source`. The array of gradients has
  // adds_up, clear_after_read, and dtype and identical_shapes of this array. The first call for a
  // `source` makes that array, with as many elements as this array has then, and this array loses
  // dynamic_size. Later calls return the same array, closed or not, whatever `prepended` is. An
  // element_shape of known rank gets the dimensions `prepended` in front. Where this array's
  // element was written before the first call, zeros in the array of gradients have that element's
  // shape with `prepended` in front. A first Write to the array of gradients does not compare the
  // value with that shape of zeros. INVALID_ARGUMENT if this array is closed, or if a resulting
  // shape is too large.
  absl::StatusOr<ObjectRef<TensorArray>> Gradient(std::string_view source, const Shape& prepended);

  DataType dtype() const { return dtype_; }
  bool dynamic_size();  // false once Gradient was called
  // Returns Options::element_shape. With identical_shapes, the first Write replaces it by the shape
  // of its value.
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
