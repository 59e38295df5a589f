#include "graph/tensor/tensor.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/sanitizers.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/buffer_pool.h"
#include "graph/tensor/large_block.h"
#include "graph/tensor/memory_bound.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon {
namespace {

// From this size on, buffers ask for transparent huge pages, which make the first touch several
// times cheaper.
constexpr size_t kHugePageBytes = size_t{2} << 20;

// Up to this capacity the elements stand behind their Buffer in one block: one allocation, and one
// without std::aligned_alloc, which costs several times as much.
constexpr size_t kMaxJoined = kSanitized ? 0 : 1024;

// Whether a buffer of this capacity is a block of its own from the system. The pool keeps buffers
// up to kMaxPooled, so that one is rarely asked for; larger ones come and go with each run, and the
// C library may have room for them.
bool IsLargeBlock(size_t capacity) {
  return capacity >= (size_t{1} << 20) && capacity <= kMaxPooled;
}

void* AllocateOwnBlock(size_t bytes, size_t capacity) {
  const size_t alignment = capacity >= kHugePageBytes ? kHugePageBytes : kTensorAlignment;
  void* const data =
      std::aligned_alloc(alignment, (capacity + alignment - 1) / alignment * alignment);
  // Whole huge pages only: the rest of the last one would be memory beyond what the caller asked
  // for.
  if (data != nullptr && alignment == kHugePageBytes)
    madvise(data, bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  return data;
}

}  // namespace

Buffer* Buffer::Allocate(size_t bytes) {
  if (bytes > kMaxBlockBytes || !MemoryBound::Take(bytes)) return nullptr;
  const size_t capacity = PooledCapacity(bytes);
  if (Buffer* const kept = TakeFromPool(capacity); kept != nullptr) {
    // Relaxed: no other thread knows the buffer yet.
    kept->refs_.store(1, std::memory_order_relaxed);
    kept->bytes_ = bytes;
    return kept;
  }
  if (capacity <= kMaxJoined) return AllocateJoined(bytes, capacity);
  auto* const buffer = new (std::nothrow) Buffer(Kind::kOwned, nullptr, bytes);
  if (buffer == nullptr) return nullptr;
  buffer->data_ =
      IsLargeBlock(capacity) ? AllocateLargeBlock(capacity) : AllocateOwnBlock(bytes, capacity);
  if (buffer->data_ == nullptr) {
    delete buffer;
    return nullptr;
  }
  CountNewBuffer(capacity);
  return buffer;
}

Buffer* Buffer::AllocateJoined(size_t bytes, size_t capacity) {
  static_assert(sizeof(Buffer) % kTensorAlignment == 0);
  void* const block = std::malloc(kTensorAlignment + sizeof(Buffer) + capacity);
  if (block == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(block);
  char* const aligned = static_cast<char*>(block) + (kTensorAlignment - address % kTensorAlignment);
  auto* const buffer = new (aligned) Buffer(Kind::kOwned, aligned + sizeof(Buffer), bytes);
  buffer->arg_ = block;
  return buffer;
}

void Buffer::Free(Buffer* buffer) {
  if (void* const block = buffer->arg_; block != nullptr) {
    buffer->~Buffer();
    return std::free(block);
  }
  const size_t capacity = PooledCapacity(buffer->bytes_);
  if (IsLargeBlock(capacity)) {
    FreeLargeBlock(buffer->data_, capacity);
  } else {
    std::free(buffer->data_);
  }
  delete buffer;
}

Buffer* Buffer::Wrap(void* data, size_t bytes, Release release, void* arg) {
  return New(Kind::kWrapped, data, bytes, release, arg);
}

Buffer* Buffer::OfDevice(void* data, size_t bytes, Release release, void* arg) {
  return New(Kind::kDevice, data, bytes, release, arg);
}

Buffer* Buffer::New(Kind kind, void* data, size_t bytes, Release release, void* arg) {
  Buffer* b = new Buffer(kind, data, bytes);
  b->release_ = release;
  b->arg_ = arg;
  return b;
}

Buffer* Buffer::View(Buffer* parent, void* data, size_t bytes) {
  Buffer* b = new Buffer(Kind::kView, data, bytes);
  parent->Ref();
  b->parent_ = parent;
  return b;
}

void Buffer::End() {
  switch (kind_) {
    case Kind::kOwned:
      for (int64_t i = 0; i < string_count_; ++i)
        TF_TString_Dealloc(static_cast<TF_TString*>(data_) + i);
      for (int64_t i = 0; i < object_count_; ++i)
        ObjectRef<Object>::Adopt(static_cast<Object**>(data_)[i]);
      string_count_ = object_count_ = 0;
      if (!GiveToPool(this, PooledCapacity(bytes_))) Free(this);
      return;
    case Kind::kDevice:
    case Kind::kWrapped:
      if (release_ != nullptr) release_(data_, bytes_, arg_);
      break;
    case Kind::kView:
      parent_->Unref();
      break;
  }
  delete this;
}

absl::StatusOr<size_t> TensorBytes(DataType dtype, const Shape& shape) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(static_cast<size_t>(shape.num_elements()), DataTypeSize(dtype),
                              &bytes) &&
      bytes <= static_cast<size_t>(INT64_MAX)) {
    return bytes;
  }
  return absl::ResourceExhaustedError(absl::StrCat("a ", DataTypeName(dtype), " tensor of shape ",
                                                   shape.ToString(),
                                                   " does not fit the address space"));
}

absl::Status Tensor::Become(DataType dtype, const Shape& shape) {
  const size_t size = DataTypeSize(dtype);
  if (size == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor can have dtype ", DataTypeName(dtype)));
  }
  size_t bytes = size;
  if (shape.rank() > 0) {
    TENON_ASSIGN_OR_RETURN(bytes, TensorBytes(dtype, shape));
  }
  Buffer* buffer = Buffer::Allocate(bytes);
  if (buffer == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a ", DataTypeName(dtype),
                                                     " tensor of shape ", shape.ToString(), ": ",
                                                     bytes, " bytes"));
  }
  if (!IsMemcpyable(dtype)) {
    // All zeros are an empty TF_TString, and a null pointer.
    std::memset(buffer->data(), 0, bytes);
    const bool strings = BaseType(dtype) == DataType::kString;
    strings ? buffer->set_string_count(shape.num_elements())
            : buffer->set_object_count(shape.num_elements());
  }
  dtype_ = dtype;
  shape_ = shape;
  buffer_ = BufferRef::Adopt(buffer);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Tensor::Allocate(DataType dtype, const Shape& shape) {
  absl::StatusOr<Tensor> tensor{Tensor()};
  if (absl::Status status = tensor->Become(dtype, shape); !status.ok()) return status;
  return tensor;
}

Tensor Tensor::CopyOf(DataType dtype, Shape shape, const void* data, size_t bytes) {
  Buffer* buffer = Buffer::Allocate(bytes);
  if (buffer == nullptr) throw std::bad_alloc();  // as any container of the caller would
  if (bytes != 0) std::memcpy(buffer->data(), data, bytes);
  return Tensor(dtype, std::move(shape), BufferRef::Adopt(buffer));
}

absl::StatusOr<Tensor> Tensor::Copy() const {
  if (!initialized() && dtype_ != DataType::kInvalid) {
    return absl::FailedPreconditionError(absl::StrCat("a ", DataTypeName(dtype_),
                                                      " tensor of shape ", shape_.ToString(),
                                                      " has no value to copy"));
  }
  TENON_ASSIGN_OR_RETURN(Tensor copy, Allocate(dtype_, shape_));
  if (IsMemcpyable(dtype_)) {
    if (bytes() > 0) std::memcpy(copy.data(), data(), bytes());
    return copy;
  }
  const bool strings = BaseType(dtype_) == DataType::kString;
  for (int64_t i = 0, n = num_elements(); i < n; ++i) {
    if (strings) {
      copy.SetString(i, StringAt(i));
    } else {
      copy.SetObject(i, ObjectRef<Object>::Share(ObjectAt(i)));
    }
  }
  return copy;
}

int64_t Tensor::IntAt(int64_t i) const {
  // Constants of a graph are views of the file's bytes, aligned to nothing.
  const auto read = [&](auto element) {
    std::memcpy(&element, flat<char>() + i * sizeof(element), sizeof(element));
    return static_cast<int64_t>(element);
  };
  switch (dtype_) {
    case DataType::kInt8:
      return read(int8_t{});
    case DataType::kUint8:
      return read(uint8_t{});
    case DataType::kInt16:
      return read(int16_t{});
    case DataType::kUint16:
      return read(uint16_t{});
    case DataType::kInt32:
      return read(int32_t{});
    case DataType::kInt64:
      return read(int64_t{});
    default:
      return 0;
  }
}

std::string_view Tensor::StringAt(int64_t i) const {
  const TF_TString* s = flat<TF_TString>() + i;
  return {TF_TString_GetDataPointer(s), TF_TString_GetSize(s)};
}

void Tensor::SetString(int64_t i, std::string_view value) const {
  MemoryBound::TakeText(value.size());
  char* const bytes = TF_TString_ResizeUninitialized(flat<TF_TString>() + i, value.size());
  if (bytes == nullptr) throw std::bad_alloc();
  if (!value.empty()) std::memcpy(bytes, value.data(), value.size());
}

}  // namespace tenon
