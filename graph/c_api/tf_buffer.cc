// TF_Buffer: blocks of bytes that cross the C interface. The bytes are freed by the function in the
// buffer, so that host and plug-in may use different allocators.
#include "tensorflow/c/tf_buffer.h"

#include <cstdlib>
#include <cstring>

#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"

namespace tenon {
namespace {

constexpr char kType[] = "TF_Buffer";

void FreeBytes(void* data, size_t) { std::free(data); }

}  // namespace

absl::Status FillBuffer(std::string_view bytes, TF_Buffer* buffer) {
  if (buffer->data != nullptr) {
    return absl::InvalidArgumentError("Passing non-empty TF_Buffer is invalid.");
  }
  // Not null for no bytes either: a null pointer means a buffer that was not filled.
  void* copy = std::malloc(bytes.empty() ? 1 : bytes.size());
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

extern "C" {

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) {
  return tenon::NewBuffer({static_cast<const char*>(proto), proto == nullptr ? 0 : proto_len});
}

TF_Buffer* TF_NewBuffer(void) { return tenon::NewForPlugin<TF_Buffer>(tenon::kType); }

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (!tenon::TakenBack(buffer, tenon::kType)) return;
  if (buffer->data_deallocator != nullptr) {
    buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  }
  tenon::DestroyTakenBack(buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) { return buffer == nullptr ? TF_Buffer{} : *buffer; }

}  // extern "C"
