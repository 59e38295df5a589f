// One lock guards all maps. Copies of up to 1 KiB are cut one behind the other from pools of 64
// KiB; a larger copy has a buffer of its own.

#include "executor/plan/base/const_store.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/shared_const.h"
#include "plugin/device/device_copy.h"

namespace tenon {
namespace {

constexpr size_t kPoolBytes = 64 << 10;
constexpr size_t kMaxPooledBytes = 1024;  // larger values get a buffer of their own
constexpr size_t kLine = 64;
constexpr size_t kKeptFoldedBytes = size_t{16}
                                    << 20;  // kept, so that the next plan need not compute

size_t BytesOf(const std::vector<Tensor>& tensors) {
  size_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.bytes();
  return bytes;
}

}  // namespace

absl::StatusOr<const Tensor*> ConstStore::ValueOf(NodeId n) {
  absl::MutexLock lock(&mutex_);
  auto it = values_.find(n);
  if (it == values_.end()) {
    TENON_ASSIGN_OR_RETURN(Tensor value, graph_.ConstValue(n));
    it = values_.emplace(n, std::make_unique<Tensor>(std::move(value))).first;
  }
  return it->second.get();
}

std::optional<std::vector<Tensor>> ConstStore::Folded(NodeId n) {
  absl::MutexLock lock(&mutex_);
  const auto it = folded_.find(n);
  return it == folded_.end() ? std::nullopt : std::optional(it->second);
}

void ConstStore::SetFolded(NodeId n, const std::vector<Tensor>& outputs) {
  absl::MutexLock lock(&mutex_);
  if (folded_.emplace(n, outputs).second) folded_bytes_ += BytesOf(outputs);
}

bool ConstStore::ForgetFolded(NodeId n) {
  absl::MutexLock lock(&mutex_);
  if (folded_bytes_ <= kKeptFoldedBytes) return false;
  if (const auto it = folded_.find(n); it != folded_.end()) {
    folded_bytes_ -= BytesOf(it->second);
    folded_.erase(it);
  }
  return true;
}

absl::StatusOr<Tensor> ConstStore::CopyLocked(const Tensor& value) {
  const size_t bytes = value.bytes();
  if (bytes > kMaxPooledBytes) {
    TENON_ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(value.dtype(), value.shape()));
    std::memcpy(copy.data(), value.data(), bytes);
    DropPages(value);
    return copy;
  }
  // A value that is aligned to its size, rounded up to a power of two, never lies across two lines.
  const size_t alignment = bytes < kLine ? std::bit_ceil(std::max<size_t>(bytes, 4)) : kLine;
  pool_used_ = (pool_used_ + alignment - 1) / alignment * alignment;
  if (!pool_ || pool_used_ + bytes > kPoolBytes) {
    pool_ = BufferRef::Adopt(Buffer::Allocate(kPoolBytes));
    pool_used_ = 0;
    if (!pool_) return absl::ResourceExhaustedError("no memory for constants");
  }
  char* data = static_cast<char*>(pool_->data()) + pool_used_;
  pool_used_ += bytes;
  if (bytes > 0) std::memcpy(data, value.data(), bytes);
  return Tensor(value.dtype(), value.shape(),
                BufferRef::Adopt(Buffer::View(pool_.get(), data, bytes)));
}

absl::StatusOr<Tensor> ConstStore::Aligned(const Tensor& value) {
  const bool aligned =
      value.buffer()->owned() && reinterpret_cast<uintptr_t>(value.data()) % kTensorAlignment == 0;
  if (aligned || !IsMemcpyable(value.dtype())) return value;
  if (IsAligned(graph_, value)) {
    CountPacked(value);  // kernels read it where it lies in the graph's storage
    return value;
  }
  absl::MutexLock lock(&mutex_);
  // One address may carry several types or shapes: a pass makes constants from each other. They
  // have the same bytes and share one copy; a part of a larger constant gets a copy of its own.
  const Bytes key(value.data(), value.bytes());
  auto it = aligned_.find(key);
  if (it == aligned_.end()) {
    TENON_ASSIGN_OR_RETURN(Tensor copy, CopyLocked(value));
    bytes_ += static_cast<int64_t>(value.bytes());
    it = aligned_.emplace(key, Copy{value, std::move(copy)}).first;
  }
  return Tensor(value.dtype(), value.shape(), it->second.copy.buffer());
}

absl::StatusOr<Tensor> ConstStore::OnDevice(const Tensor& value, Device* device, double timeout_s) {
  // The lock is held during the copy: two plans must not copy one constant twice.
  absl::MutexLock lock(&mutex_);
  const std::pair<Bytes, Device*> key({value.data(), value.bytes()}, device);
  auto it = on_device_.find(key);
  if (it == on_device_.end()) {
    TENON_ASSIGN_OR_RETURN(Tensor copy, CopyOnDevice(value, *device, timeout_s));
    it = on_device_.emplace(key, Copy{value, std::move(copy)}).first;
  }
  return Tensor(value.dtype(), value.shape(), it->second.copy.buffer());
}

void ConstStore::DropPages(const Tensor& value) {
  constexpr size_t kWorthACall = 64
                                 << 10;  // bytes: below, the system call costs more than it saves
  if (value.bytes() >= kWorthACall && !value.buffer()->owned()) graph_.DropPages(value);
}

void ConstStore::CountPacked(const Tensor& value) {
  absl::MutexLock lock(&mutex_);
  // By address: several kernels may pack one value, which counts once.
  packed_[value.data()] = static_cast<int64_t>(value.bytes());
}

int64_t ConstStore::bytes() const {
  absl::MutexLock lock(&mutex_);
  int64_t total = bytes_;
  for (const auto& [data, bytes] : packed_) total += bytes;
  return total;
}

}  // namespace tenon
