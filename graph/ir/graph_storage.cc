// An arena: bytes are copied into blocks and never freed before the storage, so that views of them
// stay valid for all graphs that share it. A lock makes adding safe from several threads.

#include "graph/ir/graph_storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace tenon {
namespace {

// Blocks double up to this size: bodies of functions are many and small, graphs few and large.
constexpr size_t kMaxBlockBytes = size_t{1} << 20;

}  // namespace

GraphStorage::~GraphStorage() {
  for (NodeKind* kind : kinds_) kind->~NodeKind();
}

std::shared_ptr<GraphStorage> GraphStorage::Over(std::shared_ptr<GraphStorage> base) {
  auto storage = std::make_shared<GraphStorage>();
  storage->functions_ = base->functions_;
  {
    absl::MutexLock lock(&base->mutex_);
    storage->first_kind_ = base->first_kind_ + static_cast<uint32_t>(base->kinds_.size());
  }
  storage->base_ = std::move(base);
  return storage;
}

char* GraphStorage::Reserve(size_t bytes) {
  if (bytes > left_) {
    block_bytes_ = std::min(block_bytes_ * 2, kMaxBlockBytes);
    // Large pieces get a block of their own, so that the open block is not wasted on them.
    const bool own_block = bytes > block_bytes_ / 4;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(own_block ? bytes : block_bytes_));
    if (own_block) return blocks_.back().get();
    next_ = blocks_.back().get();
    left_ = block_bytes_;
  }
  char* p = next_;
  next_ += bytes;
  left_ -= bytes;
  return p;
}

std::string_view GraphStorage::Copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  absl::MutexLock lock(&mutex_);
  // Neighbouring nodes often have equal devices and attributes.
  if (bytes == last_) return last_;
  char* p = Reserve(bytes.size());
  std::memcpy(p, bytes.data(), bytes.size());
  return last_ = {p, bytes.size()};
}

std::string_view GraphStorage::JoinAligned(std::string_view head, std::string_view elements) {
  absl::MutexLock lock(&mutex_);
  const size_t bytes = head.size() + elements.size();
  // The head stands before the aligned elements, at a place that depends on the head's length.
  char* p = Reserve(bytes + kTensorAlignment);
  const auto begin = reinterpret_cast<uintptr_t>(p) + head.size();
  p += (kTensorAlignment - begin % kTensorAlignment) % kTensorAlignment;
  std::memcpy(p, head.data(), head.size());
  std::memcpy(p + head.size(), elements.data(), elements.size());
  aligned_.insert(p + head.size());
  return {p, bytes};
}

bool GraphStorage::Aligns(const void* elements) {
  for (GraphStorage* storage = this; storage != nullptr; storage = storage->base_.get()) {
    absl::MutexLock lock(&storage->mutex_);
    if (storage->aligned_.contains(elements)) return true;
  }
  return false;
}

void GraphStorage::Keep(std::shared_ptr<const void> owner) {
  absl::MutexLock lock(&mutex_);
  owners_.push_back(std::move(owner));
}

void GraphStorage::KeepMapping(std::string_view bytes, std::shared_ptr<const void> owner) {
  absl::MutexLock lock(&mutex_);
  owners_.push_back(std::move(owner));
  mappings_.push_back(bytes);
}

void GraphStorage::DropPages(std::string_view bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Whole pages only: the bytes before and behind belong to others.
  const auto first = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto last = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (first >= last) return;
  if (base_ != nullptr) base_->DropPages(bytes);
  absl::MutexLock lock(&mutex_);
  for (std::string_view mapping : mappings_) {
    if (bytes.data() < mapping.data() ||
        bytes.data() + bytes.size() > mapping.data() + mapping.size())
      continue;
    // Within a mapping of a file the kernel reads dropped pages again. Memory of the heap would be
    // lost.
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    return;
  }
}

const NodeKind* GraphStorage::Add(NodeKind kind) {
  absl::MutexLock lock(&mutex_);
  kind.index = first_kind_ + static_cast<uint32_t>(kinds_.size());
  char* const place = Reserve(sizeof(NodeKind) + alignof(NodeKind));
  const auto address = reinterpret_cast<uintptr_t>(place);
  return kinds_.emplace_back(new (place + (alignof(NodeKind) - address % alignof(NodeKind)))
                                 NodeKind(std::move(kind)));
}

const OpDef* GraphStorage::Add(OpDef op) {
  absl::MutexLock lock(&mutex_);
  return &ops_.emplace_back(std::move(op));
}

}  // namespace tenon
