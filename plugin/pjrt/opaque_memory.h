// The memory of a tensor on a device whose tensors are PJRT buffers (NextPluggableDevice). Plug-ins
// tell such a tensor by its odd data pointer.
#pragma once

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"
#include "plugin/pjrt/buffer.h"

namespace tenon {
class Device;  // plugin/device/device.h
}

namespace tenon::pjrt {

// A place for one PJRT buffer, at first empty. A tensor's Buffer owns the place; the data pointer
// of the Buffer is the address of the place plus 1. Thread-safe, but for what Get returns.
class OpaqueMemory {
 public:
  // The memory of a tensor of `bytes` bytes on `device`, without a PJRT buffer.
  static BufferRef Make(Device* device, size_t bytes);
  // Null for other memory.
  static OpaqueMemory* Of(const tenon::Buffer* memory);
  static OpaqueMemory* Of(const Tensor& tensor) { return Of(tensor.buffer().get()); }

  OpaqueMemory(const OpaqueMemory&) = delete;
  OpaqueMemory& operator=(const OpaqueMemory&) = delete;

  Device* device() const { return device_; }
  // Takes the buffer in the place of the one that is there, which it destroys.
  void Set(Buffer buffer);
  // Never null; an empty buffer before Set. A Set on another thread changes what the result points
  // to. The pointer is valid as long as the place.
  const Buffer* Get() const;

 private:
  explicit OpaqueMemory(Device* device) : device_(device) {}
  static void Release(void* data, size_t bytes, void* memory);

  Device* const device_;
  mutable absl::Mutex mutex_;
  Buffer buffer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::pjrt
