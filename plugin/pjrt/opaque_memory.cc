#include "plugin/pjrt/opaque_memory.h"

#include <utility>

namespace tenon::pjrt {

BufferRef OpaqueMemory::Make(Device* device, size_t bytes) {
  static_assert(alignof(OpaqueMemory) >= 2);
  auto* const memory = new OpaqueMemory(device);
  // The holder of the only reference may put another value in: as memory that a device allocated.
  return BufferRef::Adopt(
      tenon::Buffer::OfDevice(reinterpret_cast<char*>(memory) + 1, bytes, &Release, memory));
}

OpaqueMemory* OpaqueMemory::Of(const tenon::Buffer* memory) {
  return memory == nullptr ? nullptr : static_cast<OpaqueMemory*>(memory->arg_of(&Release));
}

void OpaqueMemory::Release(void* /*data*/, size_t /*bytes*/, void* memory) {
  delete static_cast<OpaqueMemory*>(memory);
}

void OpaqueMemory::Set(Buffer buffer) {
  {
    absl::MutexLock lock(&mutex_);
    std::swap(buffer_, buffer);
  }
  // The old one is destroyed without the lock: that calls the plug-in.
}

const Buffer* OpaqueMemory::Get() const {
  absl::MutexLock lock(&mutex_);
  return &buffer_;
}

}  // namespace tenon::pjrt
