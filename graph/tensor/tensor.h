// Tensors and their reference-counted buffers. A Tensor is a cheap handle: dtype, shape and a share
// of a buffer; copying a Tensor copies no elements. Elements lie in C order: the last dimension is
// innermost. A buffer may lie in a device's memory that the host cannot read.
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

// Alignment of the memory that Buffer::Allocate gives, in bytes.
inline constexpr size_t kTensorAlignment = 64;

// A block of memory with an intrusive reference count; a new one has one reference. References may
// be taken and dropped on any thread; the last Unref frees the memory. The functions that make a
// buffer return the reference to the caller. Wrap, OfDevice and View throw bad_alloc without memory
// for the Buffer itself; `release` is then not called. A writer of a shared buffer must keep
// readers away: the count orders nothing but the end.
class Buffer {
 public:
  // Called once by the last Unref, on the thread that drops it.
  using Release = void (*)(void* data, size_t bytes, void* arg);

  // Allocates host memory, aligned to kTensorAlignment, with undefined contents. `bytes` may be 0.
  // Returns null when memory is short, when the thread's MemoryBound has less left, and from about
  // 2^40 bytes on.
  static Buffer* Allocate(size_t bytes);
  // Wraps memory of the caller, which must stay valid until `release` is called or, if `release` is
  // null, until the last Unref. `data` may be a device address.
  static Buffer* Wrap(void* data, size_t bytes, Release release, void* arg);
  // Wraps memory that a device allocated for one tensor, until `release` is called. Unlike wrapped
  // memory it may be overwritten by the holder of the only reference.
  static Buffer* OfDevice(void* data, size_t bytes, Release release, void* arg);
  // Makes a view of `bytes` bytes of `parent` from address `data` on; nothing checks that they lie
  // in `parent`. The view holds a reference to `parent` until its own end, and is never unique().
  static Buffer* View(Buffer* parent, void* data, size_t bytes);

  // Frees an owned buffer that has no references, and its memory. For the pool (buffer_pool.h).
  static void Free(Buffer* buffer);

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  // The holder of the last reference needs no locked instruction: no other thread can make a new
  // one.
  void Unref() {
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      End();
  }
  // Whether the memory may be overwritten: it is this buffer's own, and the caller has the only
  // reference.
  bool unique() const {
    return (kind_ == Kind::kOwned || kind_ == Kind::kDevice) &&
           refs_.load(std::memory_order_acquire) == 1;
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Whether Tenon allocated the buffer in host memory, as opposed to wrapping or viewing memory.
  bool owned() const { return kind_ == Kind::kOwned; }
  // Whether a device allocated the memory (OfDevice).
  bool of_device() const { return kind_ == Kind::kDevice; }
  // What `release` will be called with, if the buffer was made with that function; else null.
  void* arg_of(Release release) const { return release_ == release ? arg_ : nullptr; }
  // State the number of TF_TString elements, or of pointers to Objects, in the buffer. The last
  // Unref frees the texts or drops the references. For owned buffers only, which hold none at
  // first.
  void set_string_count(int64_t n) { string_count_ = n; }
  void set_object_count(int64_t n) { object_count_ = n; }

 private:
  enum class Kind : uint8_t { kOwned, kDevice, kWrapped, kView };
  static Buffer* AllocateJoined(size_t bytes, size_t capacity);
  static Buffer* New(Kind kind, void* data, size_t bytes, Release release, void* arg);
  Buffer(Kind kind, void* data, size_t bytes) : kind_(kind), data_(data), bytes_(bytes) {}
  void End();  // drops the last reference
  ~Buffer() = default;

  std::atomic<int32_t> refs_{1};
  Kind kind_;
  void* data_;
  size_t bytes_;
  int64_t string_count_ = 0;
  int64_t object_count_ = 0;
  Release release_ = nullptr;
  void* arg_ = nullptr;  // for release_; of an owned buffer: the block that holds it and its data
  Buffer* parent_ = nullptr;
};

// Owns one reference to a Buffer; may be null. Adopt takes over the caller's reference.
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

// A tensor, or nothing. The handle itself is not thread-safe; handles on different threads may
// share a buffer. Nothing checks an element index i: it must be in [0, num_elements()).
class Tensor {
 public:
  // An uninitialized tensor: no buffer, dtype kInvalid, and the shape of a scalar, so that
  // num_elements() is 1.
  Tensor() = default;
  // The buffer, if there is one, must hold the elements; nothing checks it.
  Tensor(DataType dtype, Shape shape, BufferRef buffer)
      : dtype_(dtype), shape_(std::move(shape)), buffer_(std::move(buffer)) {}

  // Allocates a host tensor. Strings are empty, objects null, other elements undefined.
  // RESOURCE_EXHAUSTED when memory is short or the size in bytes overflows; INVALID_ARGUMENT for a
  // dtype without elements.
  static absl::StatusOr<Tensor> Allocate(DataType dtype, const Shape& shape);
  // Replaces the present value, dtype and shape by those of Allocate. After an error they stay.
  absl::Status Become(DataType dtype, const Shape& shape);

  // Copies plain elements (IsMemcpyable) into a new host tensor. Throws bad_alloc when memory is
  // short. The number of `values` (or `bytes`) must be what the dtype and the shape say.
  template <typename T>
  static Tensor Of(DataType dtype, absl::Span<const T> values, Shape shape) {
    return CopyOf(dtype, std::move(shape), values.data(), values.size() * sizeof(T));
  }
  static Tensor CopyOf(DataType dtype, Shape shape, const void* data, size_t bytes);

  // Drops the share of the buffer and becomes uninitialized; the shape stays.
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
  // Leaves the tensor uninitialized; its dtype and shape stay.
  BufferRef TakeBuffer() && { return std::move(buffer_); }
  void* data() const { return buffer_ ? buffer_->data() : nullptr; }
  template <typename T>
  T* flat() const {
    return static_cast<T*>(data());
  }

  // The same elements with another shape, which must have as many elements. Shares the buffer.
  Tensor Reshaped(Shape shape) const { return Tensor(dtype_, std::move(shape), buffer_); }

  // Element i of a host tensor of int8 to int64, uint8 or uint16, at any alignment. 0 for other
  // dtypes, uint32, uint64 and references included.
  int64_t IntAt(int64_t i) const;
  // Element i of a host tensor of strings. The view lives as long as the element keeps its value.
  // SetString copies `value`, which must not be a view of the element itself; all tensors that
  // share the buffer see the change. Beyond the thread's MemoryBound, and where malloc has no
  // memory for the text, SetString throws bad_alloc and the element keeps its value.
  std::string_view StringAt(int64_t i) const;
  void SetString(int64_t i, std::string_view value) const;
  // Element i of a host tensor of resources or variants; may be null. The pointer lives as long as
  // the element keeps its value; share it to keep it longer.
  Object* ObjectAt(int64_t i) const { return flat<Object*>()[i]; }
  template <typename T>
  void SetObject(int64_t i, ObjectRef<T> value) const {
    ObjectRef<Object>::Adopt(std::exchange(flat<Object*>()[i], value.release()));
  }

  // Returns a new host tensor with the same elements; objects are shared. The tensor must be in
  // host memory. INVALID_ARGUMENT if the dtype is kInvalid, FAILED_PRECONDITION for another one
  // without a buffer. RESOURCE_EXHAUSTED when memory is short; throws bad_alloc as SetString does.
  absl::StatusOr<Tensor> Copy() const;

 private:
  DataType dtype_ = DataType::kInvalid;
  Shape shape_;
  BufferRef buffer_;
};

// Returns the size of a tensor's elements in bytes, without the text of strings; RESOURCE_EXHAUSTED
// when the size does not fit int64.
absl::StatusOr<size_t> TensorBytes(DataType dtype, const Shape& shape);

}  // namespace tenon
