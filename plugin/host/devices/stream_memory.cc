#include "plugin/host/devices/stream_memory.h"

#include <utility>

#include "graph/base/status_macros.h"

namespace tenon {
namespace {

BfcOptions Growing(BfcOptions options) {
  options.grow = true;
  return options;
}

}  // namespace

StreamMemory::StreamMemory(Device& device, StreamHandle stream, BfcOptions options)
    : device_(device), stream_(stream), allocator_(this, Growing(std::move(options))) {}

// Work that is queued on the first compute stream may still use the region.
absl::StatusOr<void*> StreamMemory::AllocateRegion(size_t bytes) {
  TENON_ASSIGN_OR_RETURN(BufferRef region, device_.Allocate(bytes));
  TENON_RETURN_IF_ERROR(device_.StreamWaitsForStream(stream_, device_.compute_stream()));
  void* const data = region->data();
  regions_[data] = std::move(region);
  return data;
}

void StreamMemory::FreeRegion(void* data, size_t) { regions_.erase(data); }

}  // namespace tenon
