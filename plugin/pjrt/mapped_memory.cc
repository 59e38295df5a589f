#include "plugin/pjrt/mapped_memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "graph/c_api/callback_scope.h"

namespace tenon::pjrt {
namespace {

constexpr size_t kLeastBlock = size_t{1} << 16;

}  // namespace

MappedMemory::Block& MappedMemory::Block::operator=(Block&& o) noexcept {
  if (this == &o) return *this;
  GiveBack();
  pool_ = o.pool_;
  data_ = std::exchange(o.data_, nullptr);
  bytes_ = o.bytes_;
  return *this;
}

void MappedMemory::Block::GiveBack() {
  if (data_ == nullptr) return;
  absl::MutexLock lock(&pool_->mutex_);
  pool_->free_.emplace_back(bytes_, std::exchange(data_, nullptr));
}

MappedMemory::~MappedMemory() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [bytes, data] : free_) {
    auto args = Fresh<abi::ClientDmaUnmapArgs>();
    args.client = client_;
    args.data = data;
    const absl::Status status = api_->Call(fn::Client_DmaUnmap, args);
    WarnOf(status);
    if (status.ok()) std::free(data);  // else a device may still know the memory
  }
}

bool MappedMemory::Map(void* data, size_t bytes) const {
  auto args = Fresh<abi::ClientDmaMapArgs>();
  args.client = client_;
  args.data = data;
  args.size = bytes;
  return api_->Call(fn::Client_DmaMap, args).ok();
}

MappedMemory::Block MappedMemory::Take(size_t bytes) {
  if (bytes > kMostBytes) return {};
  bytes = std::bit_ceil(std::max(bytes, kLeastBlock));
  {
    absl::MutexLock lock(&mutex_);
    if (Block block = FindFree(bytes)) return block;
    if (refused_ || bytes > kMostBytes - bytes_) return {};
    bytes_ += bytes;
  }
  // Without the lock: the call may take long.
  void* const data = std::aligned_alloc(kPageBytes, bytes);
  if (data != nullptr && Map(data, bytes)) return Block(this, data, bytes);
  std::free(data);
  absl::MutexLock lock(&mutex_);
  refused_ = refused_ || data != nullptr;  // else the host may have memory another time
  bytes_ -= bytes;
  return {};
}

MappedMemory::Block MappedMemory::FindFree(size_t bytes) {
  const auto fits = std::find_if(free_.begin(), free_.end(),
                                 [&](const auto& block) { return block.first == bytes; });
  if (fits == free_.end()) return {};
  Block block(this, fits->second, bytes);
  *fits = free_.back();
  free_.pop_back();
  return block;
}

}  // namespace tenon::pjrt
