#include "plugin/host/devices/host_pool.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// What a buffer of the pool keeps: its part of a region, and the pool.
struct HostShare {
  std::shared_ptr<HostPool> pool;
  BufferRef part;  // goes first
};

void ReleaseShare(void*, size_t, void* arg) { delete static_cast<HostShare*>(arg); }

}  // namespace

std::shared_ptr<HostPool> HostPool::Create(std::shared_ptr<PluginDevice> device,
                                           size_t limit_bytes) {
  std::shared_ptr<HostPool> pool(new HostPool(std::move(device)));
  BfcOptions options;
  options.limit_bytes = limit_bytes;
  options.name = absl::StrCat("the host memory of ", pool->device_->name);
  pool->allocator_ = std::make_unique<BfcAllocator>(pool.get(), std::move(options));
  return pool;
}

HostPool::~HostPool() { allocator_.reset(); }

absl::StatusOr<BufferRef> HostPool::Allocate(size_t bytes) {
  TENON_ASSIGN_OR_RETURN(BufferRef part, allocator_->Allocate(bytes));
  void* const data = part->data();
  // Wrapped: kernels must not take it for memory that the host's allocator may have again.
  return BufferRef::Adopt(
      Buffer::Wrap(data, bytes, ReleaseShare, new HostShare{shared_from_this(), std::move(part)}));
}

bool HostPool::Contains(const void* data, size_t bytes) const {
  const char* const first = static_cast<const char*>(data);
  absl::ReaderMutexLock lock(&mutex_);
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
    return first >= region.data && bytes <= region.bytes &&
           static_cast<size_t>(first - region.data) <= region.bytes - bytes;
  });
}

HostPool::Stats HostPool::stats() const {
  absl::ReaderMutexLock lock(&mutex_);
  return stats_;
}

absl::StatusOr<void*> HostPool::Ask(size_t bytes) {
  const StreamExecutorPlatform& platform = *device_->platform;
  void* data = nullptr;
  TENON_RETURN_IF_ERROR(CallPlugin(platform.plugin().c_str(), "host_memory_allocate", "", [&] {
    data = platform.se().host_memory_allocate(&device_->device, bytes);
  }));
  if (data != nullptr) return data;
  return absl::ResourceExhaustedError(
      absl::StrCat("host_memory_allocate gave no memory for ", bytes, " bytes"));
}

void HostPool::GiveBack(void* data) {
  const StreamExecutorPlatform& platform = *device_->platform;
  WarnOf(CallPlugin(platform.plugin().c_str(), "host_memory_deallocate", "",
                    [&] { platform.se().host_memory_deallocate(&device_->device, data); }));
}

// The interface promises no alignment, so a little more is asked for than is needed.
absl::StatusOr<void*> HostPool::AllocateRegion(size_t bytes) {
  {
    absl::ReaderMutexLock lock(&mutex_);
    if (bytes >= refused_bytes_) return absl::ResourceExhaustedError(stats_.refused);
  }
  absl::StatusOr<void*> given = Ask(bytes + kTensorAlignment);
  absl::MutexLock lock(&mutex_);
  if (!given.ok()) {
    refused_bytes_ = std::min(refused_bytes_, bytes);
    stats_.refused = std::string(given.status().message());
    return given;
  }
  const auto address = reinterpret_cast<uintptr_t>(*given);
  char* const data = static_cast<char*>(*given) +
                     (kTensorAlignment - address % kTensorAlignment) % kTensorAlignment;
  regions_.push_back({*given, data, bytes});
  ++stats_.regions;
  stats_.bytes += static_cast<int64_t>(bytes);
  return data;
}

void HostPool::FreeRegion(void* data, size_t) {
  void* given = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    const auto region = std::find_if(regions_.begin(), regions_.end(),
                                     [data](const Region& r) { return r.data == data; });
    given = region->given;
    regions_.erase(region);
  }
  GiveBack(given);
}

}  // namespace tenon
