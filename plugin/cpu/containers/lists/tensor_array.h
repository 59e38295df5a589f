// Arrays of tensors that are written once and read once: TensorArrayV3.
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

  // The calls return INVALID_ARGUMENT where TensorFlow does: for a closed array, a place out of
  // range, a second write, a read of a place that was not written, and a dtype or shape that does
  // not fit.
  absl::Status Resize(int64_t size);
  absl::Status Write(int64_t i, Tensor value);
  absl::StatusOr<Tensor> Read(int64_t i);
  absl::StatusOr<int64_t> Size();
  void Close();
  // Returns the array of gradients for `source`. The first call makes the array; from then on this
  // array does not grow. A gradient's shape is that of the element, with `prepended` in front.
  absl::StatusOr<ObjectRef<TensorArray>> Gradient(std::string_view source, const Shape& prepended);

  DataType dtype() const { return dtype_; }
  bool dynamic_size();
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
