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

// Made by each run of its op and gone with its last handle. Thread-safe.
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

  // All are INVALID_ARGUMENT where TensorFlow says so: closed, places that are not there, written
  // twice or not at all, dtypes and shapes that do not fit.
  absl::Status Resize(int64_t size);
  absl::Status Write(int64_t i, Tensor value);
  absl::StatusOr<Tensor> Read(int64_t i);
  absl::StatusOr<int64_t> Size();
  void Close();
  // The array of gradients that `source` asks for, made at first use: from then on this array does
  // not grow. Its elements' shapes are these, behind `prepended` dimensions.
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
