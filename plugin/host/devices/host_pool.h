// Host memory that a plug-in allocates for copies to and from its device, by host_memory_allocate:
// on most devices pinned memory, which the device reaches without a copy by the driver. The pool
// asks for regions and divides them, so that copies ask the plug-in for nothing once it is large
// enough. Private to plugin/host/devices/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/device/bfc_allocator.h"
#include "plugin/host/devices/plugin_device.h"

namespace tenon {

// Thread-safe. Buffers share the pool, and the pool the plug-in's device: memory that a caller
// still has stays valid when the host's device is gone, and the last buffer destroys the plug-in's.
class HostPool final : public RegionSource, public std::enable_shared_from_this<HostPool> {
 public:
  struct Stats {
    int64_t regions = 0;  // calls of host_memory_allocate that gave memory
    int64_t bytes = 0;    // of these regions
    std::string refused;  // why the plug-in gave no more memory; empty: it always did
  };

  // `limit_bytes`: the most that all regions have together, without the kTensorAlignment bytes more
  // that the plug-in is asked for with each.
  static std::shared_ptr<HostPool> Create(std::shared_ptr<PluginDevice> device, size_t limit_bytes);
  ~HostPool() override;

  // A buffer with undefined contents, aligned as tensors are. RESOURCE_EXHAUSTED if the limit is
  // reached or the plug-in gives no memory: once it refuses a size it is not asked for as much
  // again. The error of CallPlugin if it throws.
  absl::StatusOr<BufferRef> Allocate(size_t bytes);
  // Whether all of these bytes lie in one region.
  bool Contains(const void* data, size_t bytes) const;
  Stats stats() const;

  // RegionSource, for the pool's own allocator.
  absl::StatusOr<void*> AllocateRegion(size_t bytes) override;
  void FreeRegion(void* data, size_t bytes) override;

 private:
  struct Region {
    void* given;  // by the plug-in
    char* data;   // the first aligned byte
    size_t bytes;
  };

  explicit HostPool(std::shared_ptr<PluginDevice> device) : device_(std::move(device)) {}
  absl::StatusOr<void*> Ask(size_t bytes);
  void GiveBack(void* data);

  const std::shared_ptr<PluginDevice> device_;
  mutable absl::Mutex mutex_;
  std::vector<Region> regions_ ABSL_GUARDED_BY(mutex_);
  size_t refused_bytes_ ABSL_GUARDED_BY(mutex_) = SIZE_MAX;  // so many, or more, are not there
  Stats stats_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<BfcAllocator> allocator_;
};

}  // namespace tenon
