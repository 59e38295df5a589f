// The list of preparations is in the order of use, the latest last, and its first entry makes room.

#include "executor/run/preparation_cache.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {

// Bit 31 of `value_inputs` stands for input 31 and all inputs behind it.
bool NeedsValue(const CpuKernelSpec& spec, size_t input) {
  return (spec.value_inputs >> std::min<size_t>(input, 31) & 1) != 0;
}

char* PreparationKey::Grow(size_t bytes) {
  const size_t at = size_;
  size_ += bytes;
  if (size_ <= kInPlace) return here_ + at;
  if (at <= kInPlace) heap_.assign(here_, at);
  heap_.resize(size_);
  return heap_.data() + at;
}

void PreparationKey::Append(const void* data, size_t bytes) {
  if (bytes > 0) std::memcpy(Grow(bytes), data, bytes);
}

void PreparationKey::AddShape(const Shape& shape) {
  const absl::Span<const int64_t> dims = shape.dims();
  char* to = Grow((1 + dims.size()) * sizeof(int64_t));
  // A copy of a size that the compiler knows is one instruction; a call for so few bytes costs more
  // than they do.
  const auto add = [&](int64_t number) {
    std::memcpy(to, &number, sizeof(number));
    to += sizeof(number);
  };
  add(static_cast<int64_t>(dims.size()));
  for (const int64_t dim : dims) add(dim);
}

void PreparationKey::AddElements(DataType dtype, const Shape& shape, const void* data) {
  Append(data, static_cast<size_t>(shape.num_elements()) * DataTypeSize(dtype));
}

void PreparationKey::AddValue(const Tensor& value) {
  if (IsMemcpyable(value.dtype())) return AddElements(value.dtype(), value.shape(), value.data());
  if (BaseType(value.dtype()) != DataType::kString) return;
  for (int64_t k = 0; k < value.num_elements(); ++k) {
    // Each string's length goes first: {"ab", "c"} and {"a", "bc"} must differ.
    const std::string_view text = value.StringAt(k);
    const std::string length = absl::StrCat(text.size(), ":");
    Append(length.data(), length.size());
    Append(text.data(), text.size());
  }
}

const std::shared_ptr<PreparationCache::Entry>& PreparationCache::EntryOf(std::string_view key) {
  // From the end: the one that was used last is the likeliest.
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](const auto& entry) { return entry->key == key; });
  if (found == entries_.rend()) {
    if (entries_.size() == kMaxPrepared) entries_.erase(entries_.begin());
    entries_.push_back(std::make_shared<Entry>(key));
  } else if (found != entries_.rbegin()) {
    std::rotate(found.base() - 1, found.base(), entries_.end());
  }
  return entries_.back();
}

absl::StatusOr<PreparationCache::Prepared> PreparationCache::Get(const PreparationKey& key,
                                                                 MakeFn make,
                                                                 LatePreparations& counts) {
  std::shared_ptr<Entry> entry;
  {
    absl::MutexLock lock(&mutex_);
    const std::shared_ptr<Entry>& known = EntryOf(key.bytes());
    if (known->prepared != nullptr) {
      counts.reused.fetch_add(1, std::memory_order_relaxed);
      return known->prepared;
    }
    entry = known;
  }
  return Make(*entry, make, counts);
}

// Preparing may take as long as many runs: weights are packed, primitives generated. So it is done
// under the entry's lock and not under the cache's.
absl::StatusOr<PreparationCache::Prepared> PreparationCache::Make(Entry& entry, MakeFn make,
                                                                  LatePreparations& counts) {
  // Other threads with this key wait here, and then find what the first one has made.
  absl::MutexLock making(&entry.making);
  {
    absl::MutexLock lock(&mutex_);
    if (entry.prepared != nullptr) {
      counts.reused.fetch_add(1, std::memory_order_relaxed);
      return entry.prepared;
    }
  }
  TENON_ASSIGN_OR_RETURN(Prepared prepared, make());
  counts.made.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  entry.prepared = prepared;
  return prepared;
}

}  // namespace tenon
