// TF_Buffer: blocks of bytes that cross the C interface. The bytes are freed by the function in the
// buffer, so that host and plug-in may use different allocators.
#include "tensorflow/c/tf_buffer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"

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

void FreeBytes(void* data, size_t) { std::free(data); }

}  // namespace

absl::Status FillBuffer(std::string_view bytes, TF_Buffer* buffer) {
  if (WasDeleted(buffer)) return absl::InvalidArgumentError("the TF_Buffer was deleted");
  if (buffer->data != nullptr) {
    return absl::InvalidArgumentError("Passing non-empty TF_Buffer is invalid.");
  }
  // Not null for no bytes either: a null pointer means a buffer that was not filled.
  const bool fits = bytes.size() <= static_cast<size_t>(PTRDIFF_MAX);
  void* copy = fits ? std::malloc(bytes.empty() ? 1 : bytes.size()) : nullptr;
  if (copy == nullptr) return absl::ResourceExhaustedError("no memory for a TF_Buffer's bytes");
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  *buffer = {copy, bytes.size(), FreeBytes};
  return absl::OkStatus();
}

TF_Buffer* NewBuffer(std::string_view bytes) {
  TF_Buffer* buffer = TF_NewBuffer();
  if (FillBuffer(bytes, buffer).ok()) return buffer;
  TF_DeleteBuffer(buffer);
  return nullptr;
}

}  // namespace tenon

using tenon::AbiWatch;

extern "C" {

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) {
  return tenon::NewBuffer({static_cast<const char*>(proto), proto == nullptr ? 0 : proto_len});
}

TF_Buffer* TF_NewBuffer(void) {
  auto* const buffer = new (tenon::HandlePool<tenon::IdleBuffer>::Take()) TF_Buffer{};
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
