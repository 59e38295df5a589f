// The memory of a compute stream beyond a device's first. Private to plugin/host/devices/.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "plugin/device/bfc_allocator.h"
#include "plugin/device/device.h"

namespace tenon {

// Memory that is reused in the order of one stream. Its regions are memory of the device's first
// compute stream, so that the device has one limit, and stay here until this object goes.
// Thread-safe.
class StreamMemory final : public RegionSource {
 public:
  // `options.grow` is taken for true. `device` must outlive the object; the stream must be idle at
  // its end.
  StreamMemory(Device& device, StreamHandle stream, BfcOptions options);

  // As BfcAllocator::Allocate.
  absl::StatusOr<BufferRef> Allocate(size_t bytes) { return allocator_.Allocate(bytes); }

 private:
  absl::StatusOr<void*> AllocateRegion(size_t bytes) override;
  void FreeRegion(void* data, size_t bytes) override;

  Device& device_;
  const StreamHandle stream_;
  absl::flat_hash_map<void*, BufferRef> regions_;  // guarded by the lock of the allocator
  BfcAllocator allocator_;
};

}  // namespace tenon
