// TF_Buffer: blocks of bytes that cross the C interface. The bytes are freed by the function in the
// buffer, so that host and plug-in may use different allocators.
#include "tensorflow/c/tf_buffer.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"

namespace tenon {
namespace {

constexpr char kBufferType[] = "TF_Buffer";

// What a deleted TF_Buffer becomes. It takes the place of the public struct, whose size is fixed
// and whose memory a caller may have made by itself.
struct IdleBuffer {
  IdleBuffer* next_idle = nullptr;
  size_t length = 0;
  void (*deallocator)(void*, size_t) = DeletedBuffer;
};
static_assert(sizeof(IdleBuffer) == sizeof(TF_Buffer));
static_assert(offsetof(IdleBuffer, deallocator) == offsetof(TF_Buffer, data_deallocator));

// Stands before the bytes of every block that the host has allocated for a buffer. The bytes keep
// the alignment of malloc.
struct alignas(std::max_align_t) BlockHead {
  std::atomic<uint32_t> holders{1};
};

BlockHead* HeadOf(void* data) { return static_cast<BlockHead*>(data) - 1; }

// Null without memory.
void* NewBlock(size_t size) {
  if (size > static_cast<size_t>(PTRDIFF_MAX) - sizeof(BlockHead)) return nullptr;
  void* const block = std::malloc(sizeof(BlockHead) + size);
  if (block == nullptr) return nullptr;
  BlockHead* const head = new (block) BlockHead;
  return head + 1;
}

// The deallocator of these blocks, which also tells them from all others.
void FreeBytes(void* data, size_t) {
  BlockHead* const head = HeadOf(data);
  if (head->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  head->~BlockHead();
  std::free(head);
}

}  // namespace

absl::Status FillBuffer(std::string_view bytes, TF_Buffer* buffer) {
  if (WasDeleted(buffer)) return absl::InvalidArgumentError("the TF_Buffer was deleted");
  if (buffer->data != nullptr) {
    return absl::InvalidArgumentError("Passing non-empty TF_Buffer is invalid.");
  }
  // Not null for no bytes either: a null pointer means a buffer that was not filled.
  void* const copy = NewBlock(std::max<size_t>(bytes.size(), 1));
  if (copy == nullptr) return absl::ResourceExhaustedError("no memory for a TF_Buffer's bytes");
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  *buffer = {copy, bytes.size(), FreeBytes};
  return absl::OkStatus();
}

TF_Buffer* NewBuffer(std::string_view bytes) {
  TF_Buffer* buffer = TF_NewBuffer();
  if (buffer == nullptr || FillBuffer(bytes, buffer).ok()) return buffer;
  TF_DeleteBuffer(buffer);
  return nullptr;
}

FileBytes KeepBytes(const TF_Buffer& buffer) {
  const std::string_view bytes = BufferBytes(buffer);
  if (buffer.data_deallocator != FreeBytes || buffer.data == nullptr)
    return BytesOf(std::string(bytes));
  void* const data = const_cast<void*>(buffer.data);
  HeadOf(data)->holders.fetch_add(1, std::memory_order_relaxed);
  return {bytes, std::shared_ptr<const void>(data, [](void* kept) { FreeBytes(kept, 0); })};
}

}  // namespace tenon

using tenon::AbiWatch;

extern "C" {

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) try {
  return tenon::NewBuffer({static_cast<const char*>(proto), proto == nullptr ? 0 : proto_len});
} catch (...) {
  return tenon::WithoutMemory();
}

TF_Buffer* TF_NewBuffer(void) {
  tenon::IdleBuffer* const room = tenon::HandlePool<tenon::IdleBuffer>::TryTake();
  if (room == nullptr) return nullptr;
  auto* const buffer = new (room) TF_Buffer{};
  if (AbiWatch* watch = AbiWatch::Active()) watch->Made(buffer, tenon::kBufferType);
  return buffer;
}

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (buffer == nullptr) return;
  AbiWatch* const watch = AbiWatch::Active();
  if (watch != nullptr && !watch->TakeBack(buffer, tenon::kBufferType)) return;
  if (!tenon::IsThere(buffer)) return;
  if (buffer->data_deallocator != nullptr) {
    buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  }
  tenon::GiveOrBury(new (buffer) tenon::IdleBuffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) { return tenon::IsThere(buffer) ? *buffer : TF_Buffer{}; }

}  // extern "C"
