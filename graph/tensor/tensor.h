// Tensors and the reference-counted buffers behind them. A Tensor is a cheap handle: dtype, shape,
// and a share of a buffer; copying one never copies elements. Buffers may live in a device's memory
// that the host cannot read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/object.h"
#include "graph/tensor/shape.h"

namespace tenon {

// Alignment of every host buffer that Tenon allocates, in bytes.
inline constexpr size_t kTensorAlignment = 64;

// A block of memory with an intrusive reference count. Thread-safe to share; the last Unref frees
// it.
class Buffer {
 public:
  // Called once by the last Unref, on whatever thread drops it.
  using Release = void (*)(void* data, size_t bytes, void* arg);

  // Host memory, aligned to kTensorAlignment, contents undefined. Null when the system has no
  // memory.
  static Buffer* Allocate(size_t bytes);
  // Memory owned by somebody else until `release` (which may be null) is called. `data` may be a
  // device address.
  static Buffer* Wrap(void* data, size_t bytes, Release release, void* arg);
  // Memory that a device gave for one tensor, until `release`.
  static Buffer* OfDevice(void* data, size_t bytes, Release release, void* arg);
  // `bytes` of `parent` from `data` on; holds a reference on parent.
  static Buffer* View(Buffer* parent, void* data, size_t bytes);

  // Frees an owned buffer that nobody has any more.
  static void Free(Buffer* buffer);

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  // The last share needs no locked instruction: nobody else can make another.
  void Unref() {
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      End();
  }
  // The memory is there for this buffer alone and nobody else has a share: it may be overwritten.
  bool unique() const {
    return (kind_ == Kind::kOwned || kind_ == Kind::kDevice) &&
           refs_.load(std::memory_order_acquire) == 1;
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Allocated by Tenon in host memory, as opposed to wrapped or viewed.
  bool owned() const { return kind_ == Kind::kOwned; }
  // The buffer holds this many TF_TString elements, or pointers to Objects, which the last Unref
  // lets go of. Only for owned buffers.
  void set_string_count(int64_t n) { string_count_ = n; }
  void set_object_count(int64_t n) { object_count_ = n; }

 private:
  enum class Kind : uint8_t { kOwned, kDevice, kWrapped, kView };
  static Buffer* New(Kind kind, void* data, size_t bytes, Release release, void* arg);
  Buffer(Kind kind, void* data, size_t bytes) : kind_(kind), data_(data), bytes_(bytes) {}
  void End();  // of the last share
  ~Buffer() = default;

  std::atomic<int32_t> refs_{1};
  Kind kind_;
  void* data_;
  size_t bytes_;
  int64_t string_count_ = 0;
  int64_t object_count_ = 0;
  Release release_ = nullptr;
  void* arg_ = nullptr;
  Buffer* parent_ = nullptr;
};

// Owning pointer to a Buffer.
class BufferRef {
 public:
  BufferRef() = default;
  static BufferRef Adopt(Buffer* b) {
    BufferRef r;
    r.buffer_ = b;
    return r;
  }
  BufferRef(const BufferRef& o) : buffer_(o.buffer_) {
    if (buffer_ != nullptr) buffer_->Ref();
  }
  BufferRef(BufferRef&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef o) noexcept {
    std::swap(buffer_, o.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr) buffer_->Unref();
  }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

class Tensor {
 public:
  // An uninitialized tensor: no buffer, dtype kInvalid.
  Tensor() = default;
  Tensor(DataType dtype, Shape shape, BufferRef buffer)
      : dtype_(dtype), shape_(std::move(shape)), buffer_(std::move(buffer)) {}

  // Host tensor of undefined contents (strings are empty, objects null). RESOURCE_EXHAUSTED when
  // memory is short or the byte size overflows; INVALID_ARGUMENT for a dtype without elements.
  static absl::StatusOr<Tensor> Allocate(DataType dtype, const Shape& shape);
  // The same in place of what this tensor was; on an error it stays what it was.
  absl::Status Become(DataType dtype, const Shape& shape);

  // A host scalar or vector of plain elements.
  template <typename T>
  static Tensor Of(DataType dtype, absl::Span<const T> values, Shape shape) {
    return CopyOf(dtype, std::move(shape), values.data(), values.size() * sizeof(T));
  }
  static Tensor CopyOf(DataType dtype, Shape shape, const void* data, size_t bytes);

  // Gives the buffer back; the shape is what it was.
  void Clear() {
    dtype_ = DataType::kInvalid;
    buffer_ = BufferRef();
  }

  bool initialized() const { return static_cast<bool>(buffer_); }
  DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t bytes() const { return static_cast<size_t>(num_elements()) * DataTypeSize(dtype_); }
  const BufferRef& buffer() const { return buffer_; }
  BufferRef TakeBuffer() && { return std::move(buffer_); }
  void* data() const { return buffer_ ? buffer_->data() : nullptr; }
  template <typename T>
  T* flat() const {
    return static_cast<T*>(data());
  }

  // The same elements under another shape; the number of elements must be equal.
  Tensor Reshaped(Shape shape) const { return Tensor(dtype_, std::move(shape), buffer_); }

  // One element of a host tensor of int8 to int64, uint8 or uint16, at any alignment. 0 for other
  // dtypes.
  int64_t IntAt(int64_t i) const;
  // Elements of a string host tensor; the view lives as long as the buffer and the element.
  std::string_view StringAt(int64_t i) const;
  void SetString(int64_t i, std::string_view value) const;
  // Elements of a resource or variant host tensor; null for nothing. The pointer lives as long as
  // the element.
  Object* ObjectAt(int64_t i) const { return flat<Object*>()[i]; }
  template <typename T>
  void SetObject(int64_t i, ObjectRef<T> value) const {
    ObjectRef<Object>::Adopt(std::exchange(flat<Object*>()[i], value.release()));
  }

  // A new tensor in host memory with the same elements; RESOURCE_EXHAUSTED when memory is short.
  absl::StatusOr<Tensor> Copy() const;

 private:
  DataType dtype_ = DataType::kInvalid;
  Shape shape_;
  BufferRef buffer_;
};

// Bytes of a tensor, or RESOURCE_EXHAUSTED when they do not fit size_t.
absl::StatusOr<size_t> TensorBytes(DataType dtype, const Shape& shape);

}  // namespace tenon
