// Memory of tensors lies between two zones with a known pattern, and content that must not change
// is copied and compared (frozen). Each guard has its own lock, since a comparison may copy from a
// device; the lock of the table is never held meanwhile.

#include "graph/c_api/tensor_guards.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

constexpr size_t kZone = TensorGuards::kZone;
// Bounds, in bytes: for all freed blocks that are kept, for all copies of frozen tensors, for one
// such copy. Beyond them a check is dropped rather than memory exhausted.
constexpr size_t kMostBuried = size_t{64} << 20;
constexpr size_t kMostFrozen = size_t{512} << 20;
constexpr size_t kLargestFrozen = size_t{32} << 20;

std::atomic<size_t> frozen_bytes{0};

// Neighbouring bytes differ, and the bytes are none that small integers or common floats hold.
constexpr char PatternAt(size_t i) { return static_cast<char>(0xa5 ^ i * 37); }

using Zone = std::array<char, kZone>;
const Zone& Pattern() {
  static const auto* const pattern = [] {
    auto* made = new Zone;
    for (size_t i = 0; i < kZone; ++i) (*made)[i] = PatternAt(i);
    return made;
  }();
  return *pattern;
}

// Freed memory gets the pattern as a known content, so that a late write shows.
void FillWithPattern(char* data, size_t bytes) {
  for (size_t done = 0; done < bytes; done += kZone)
    std::memcpy(data + done, Pattern().data(), std::min(kZone, bytes - done));
}

// The first and the last byte that differ, as offsets.
struct Extent {
  int64_t first, last;
};
std::optional<Extent> Difference(const char* a, const char* b, size_t bytes) {
  if (bytes == 0 || std::memcmp(a, b, bytes) == 0) return std::nullopt;
  const auto first = std::mismatch(a, a + bytes, b).first - a;
  auto last = static_cast<int64_t>(bytes) - 1;
  while (a[last] == b[last]) --last;
  return Extent{first, last};
}

std::string Text(Extent e) {
  return e.first == e.last ? absl::StrCat("byte ", e.first, " is")
                           : absl::StrCat("bytes ", e.first, " to ", e.last, " are");
}

// By the device's copies; the host's own memory directly.
bool Read(FarMemory* memory, const void* from, void* to, size_t bytes) {
  if (memory != nullptr) return memory->Read(from, to, bytes);
  std::memcpy(to, from, bytes);
  return true;
}
bool Write(FarMemory* memory, void* to, const void* from, size_t bytes) {
  if (memory != nullptr) return memory->Write(to, from, bytes);
  std::memcpy(to, from, bytes);
  return true;
}

// The call in progress as the user of a tensor that it allocates.
TensorUser CurrentUser() {
  const CallbackInfo* const call = CurrentCallback();
  if (call == nullptr) return {"", "", "", "a tensor"};
  return {call->plugin, call->callback, std::string(call->node), "a tensor that it allocated"};
}

}  // namespace

struct TensorGuards::Guard {
  char* data() const { return static_cast<char*>(const_cast<void*>(key.first)); }

  // Writes the pattern on both sides and reads it back. False where the plug-in's copies do not
  // work: a comparison would then report violations that did not happen.
  bool Fill() {
    Zone found;
    for (char* zone : {data() - kZone, data() + bytes}) {
      if (!Write(memory, zone, Pattern().data(), kZone) || !Read(memory, zone, found.data(), kZone))
        return false;
      if (found != Pattern()) return false;
    }
    return true;
  }

  // Reports for the tensor's user. Its names are copies: the plug-in's call may be long over.
  void Tell(std::string_view rule, std::string_view what) const {
    if (AbiWatch* const watch = AbiWatch::Active()) {
      watch->Report({user.plugin, user.callback, user.node, std::string(rule),
                     absl::StrCat(user.tensor, " has ", bytes, " bytes; ", what)});
    }
  }

  // Reports damage of the zones and writes the pattern again, so that the same damage is reported
  // once.
  void Look() {
    if (gone) return;
    Zone found;
    for (const bool behind : {false, true}) {
      char* const zone = behind ? data() + bytes : data() - kZone;
      if (!Read(memory, zone, found.data(), kZone)) continue;
      std::optional<Extent> e = Difference(found.data(), Pattern().data(), kZone);
      if (!e) continue;
      const int64_t shift = behind ? static_cast<int64_t>(bytes) : -static_cast<int64_t>(kZone);
      const Extent moved{e->first + shift, e->last + shift};
      Tell("out_of_bounds",
           absl::StrCat(Text(moved), " written, ", behind ? "behind its end" : "before its begin"));
      Write(memory, zone, Pattern().data(), kZone);
    }
    LookInside();
  }

  // Reports a change of a frozen tensor, and takes the new content as right, so that the same
  // change is reported once.
  void LookInside() {
    if (gone || frozen.empty()) return;
    std::vector<char> now = BytesOf(memory, data(), bytes);
    if (now.empty()) return;
    const std::string change = ChangeOf(frozen, now);
    if (change.empty()) return;
    Tell("written_late", absl::StrCat(change, freed ? " after it was freed"
                                                    : " after the call had ended, in no order "
                                                      "with who reads it"));
    frozen = std::move(now);
  }

  // Empty content thaws. The difference of sizes may be negative: the counter wraps around rightly.
  void Freeze(std::vector<char> content) {
    frozen_bytes += content.size() - frozen.size();
    frozen = std::move(content);
  }

  absl::Mutex mutex;  // held while the memory is read or written
  FarMemory* memory = nullptr;
  Key key;
  size_t bytes = 0;
  TensorUser user ABSL_GUARDED_BY(mutex);
  std::vector<char> frozen ABSL_GUARDED_BY(mutex);  // the right content; empty: it may change
  bool freed ABSL_GUARDED_BY(mutex) = false;        // no write to the tensor is right
  bool gone ABSL_GUARDED_BY(mutex) = false;         // the memory is freed and may not be read
  void* block = nullptr;                            // the host's memory to free; null: not owned

  ~Guard() {
    Freeze({});
    std::free(block);
  }
};

TensorGuards& TensorGuards::Get() {
  static auto* const guards = new TensorGuards;
  return *guards;
}

std::shared_ptr<TensorGuards::Guard> TensorGuards::Find(const FarMemory* memory,
                                                        const void* data) const {
  absl::MutexLock lock(&mutex_);
  const auto found = guards_.find({data, memory});
  return found == guards_.end() ? nullptr : found->second;
}

void TensorGuards::Add(std::shared_ptr<Guard> guard) {
  absl::MutexLock lock(&mutex_);
  guards_[guard->key] = std::move(guard);
}

std::shared_ptr<TensorGuards::Guard> TensorGuards::Take(const FarMemory* memory, const void* data) {
  absl::MutexLock lock(&mutex_);
  const auto found = guards_.find({data, memory});
  if (found == guards_.end()) return nullptr;
  std::shared_ptr<Guard> guard = std::move(found->second);
  guards_.erase(found);
  return guard;
}

// Writes the pattern before anybody can find the guard.
void TensorGuards::Surround(FarMemory* memory, void* data, size_t bytes) {
  auto guard = std::make_shared<Guard>();
  guard->memory = memory;
  guard->key = {data, memory};
  guard->bytes = bytes;
  {
    absl::MutexLock lock(&guard->mutex);
    guard->user = CurrentUser();
    if (!guard->Fill()) return;
  }
  Add(std::move(guard));
}

Buffer* TensorGuards::Allocate(size_t bytes) {
  // aligned_alloc wants a multiple of the alignment; the zone behind begins right behind the last
  // byte.
  const size_t lines = (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  auto guard = std::make_shared<Guard>();
  guard->block = std::aligned_alloc(kTensorAlignment, lines + 2 * kZone);
  if (guard->block == nullptr) return nullptr;
  void* const data = static_cast<char*>(guard->block) + kZone;
  guard->key = {data, nullptr};
  guard->bytes = bytes;
  {
    absl::MutexLock lock(&guard->mutex);
    guard->user = CurrentUser();
    guard->Fill();
  }
  Add(std::move(guard));
  // As memory that a device allocated for one tensor: the buffer owns the memory alone, and kernels
  // may forward it while it has one reference.
  return Buffer::OfDevice(data, bytes, Free, nullptr);
}

// Runs when the last share of the buffer goes. The block is not freed but kept, so that a late
// write is found and meets nobody else's memory.
void TensorGuards::Free(void* data, size_t, void*) {
  std::shared_ptr<Guard> guard = Get().Take(nullptr, data);
  if (guard == nullptr) return;
  {
    absl::MutexLock lock(&guard->mutex);
    guard->Look();
    guard->freed = true;
    FillWithPattern(guard->data(), guard->bytes);
    guard->Freeze(BytesOf(nullptr, data, guard->bytes));
  }
  Get().Bury(std::move(guard));
}

void TensorGuards::Bury(std::shared_ptr<Guard> guard) {
  std::vector<std::shared_ptr<Guard>> gone;
  {
    absl::MutexLock lock(&mutex_);
    buried_bytes_ += guard->bytes + 2 * kZone;
    buried_.push_back(std::move(guard));
    auto keep = buried_.begin();
    while (buried_bytes_ > kMostBuried) buried_bytes_ -= (*keep++)->bytes + 2 * kZone;
    gone.assign(buried_.begin(), keep);
    buried_.erase(buried_.begin(), keep);
  }
  // A last look, without the lock of all guards.
  for (const std::shared_ptr<Guard>& last : gone) {
    absl::MutexLock lock(&last->mutex);
    last->Look();
  }
}

void TensorGuards::AttributeToCurrentCall(const FarMemory* memory, const void* data) {
  const std::shared_ptr<Guard> guard = Find(memory, data);
  if (guard == nullptr) return;
  absl::MutexLock lock(&guard->mutex);
  guard->user = CurrentUser();
}

bool TensorGuards::IsSurrounded(const FarMemory* memory, const void* data) const {
  return Find(memory, data) != nullptr;
}

void TensorGuards::Forget(const FarMemory* memory, const void* data) {
  const std::shared_ptr<Guard> guard = Take(memory, data);
  if (guard == nullptr) return;
  absl::MutexLock lock(&guard->mutex);
  guard->Look();
  guard->gone = true;
}

void TensorGuards::Retire(const FarMemory* memory, const void* data) {
  const std::shared_ptr<Guard> guard = Find(memory, data);
  if (guard == nullptr) return;
  {
    absl::MutexLock lock(&guard->mutex);
    guard->Look();
    guard->freed = true;
  }
  Freeze(memory, data);
}

// The keys are collected first: Forget takes the lock itself, and copies from the device without
// it.
void TensorGuards::ForgetAll(const FarMemory* memory) {
  std::vector<const void*> all;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, guard] : guards_) {
      if (key.second == memory) all.push_back(key.first);
    }
  }
  for (const void* data : all) Forget(memory, data);
}

void TensorGuards::Check(const FarMemory* memory, const void* data, const TensorUser& user) {
  const std::shared_ptr<Guard> guard = Find(memory, data);
  if (guard == nullptr) return;
  absl::MutexLock lock(&guard->mutex);
  guard->LookInside();  // a change of a frozen tensor is the doing of the user before
  guard->user = user;
  guard->Look();
}

void TensorGuards::Freeze(const FarMemory* memory, const void* data) {
  const std::shared_ptr<Guard> guard = Find(memory, data);
  if (guard == nullptr || guard->bytes > kLargestFrozen) return;
  absl::MutexLock lock(&guard->mutex);
  if (frozen_bytes - guard->frozen.size() + guard->bytes > kMostFrozen) return;
  guard->Freeze(BytesOf(guard->memory, data, guard->bytes));
}

void TensorGuards::CheckFrozen(const FarMemory* memory, const void* data) {
  const std::shared_ptr<Guard> guard = Find(memory, data);
  if (guard == nullptr) return;
  absl::MutexLock lock(&guard->mutex);
  guard->LookInside();
}

void TensorGuards::AcceptChange(const FarMemory* memory, const void* data) {
  const std::shared_ptr<Guard> guard = Find(memory, data);
  if (guard == nullptr) return;
  absl::MutexLock lock(&guard->mutex);
  if (!guard->frozen.empty()) guard->Freeze(BytesOf(guard->memory, data, guard->bytes));
}

// The caller does not know in which memory the tensor lies, so guards in all of them are thawed.
// Keys are ordered by address first.
void TensorGuards::Thaw(const void* data) {
  std::vector<std::shared_ptr<Guard>> found;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = guards_.lower_bound({data, nullptr});
         it != guards_.end() && it->first.first == data; ++it)
      found.push_back(it->second);
  }
  for (const std::shared_ptr<Guard>& guard : found) {
    absl::MutexLock lock(&guard->mutex);
    guard->LookInside();
    guard->Freeze({});
  }
}

void TensorGuards::CheckAll() {
  std::vector<std::shared_ptr<Guard>> all;
  {
    absl::MutexLock lock(&mutex_);
    all = buried_;
    for (const auto& [key, guard] : guards_) all.push_back(guard);
  }
  for (const std::shared_ptr<Guard>& guard : all) {
    absl::MutexLock lock(&guard->mutex);
    guard->Look();
  }
}

std::vector<char> BytesOf(FarMemory* memory, const void* data, size_t bytes) {
  std::vector<char> now(bytes);
  if (!Read(memory, data, now.data(), bytes)) now.clear();
  return now;
}

// Names the extent only: the bytes between the first and the last may be equal.
std::string ChangeOf(const std::vector<char>& before, const std::vector<char>& now) {
  const size_t bytes = std::min(before.size(), now.size());
  const std::optional<Extent> e = Difference(now.data(), before.data(), bytes);
  return e ? absl::StrCat(Text(*e), " written") : "";
}

absl::Status BecomeGuarded(Tensor& tensor, DataType dtype, const Shape& shape) {
  // Become refuses types without elements.
  if (AbiWatch::Active() == nullptr || !IsMemcpyable(dtype) || DataTypeSize(dtype) == 0)
    return tensor.Become(dtype, shape);
  const absl::StatusOr<size_t> bytes = TensorBytes(dtype, shape);
  if (!bytes.ok()) return bytes.status();
  Buffer* const buffer = TensorGuards::Get().Allocate(*bytes);
  if (buffer == nullptr) return tensor.Become(dtype, shape);  // for its error, or without a guard
  tensor = Tensor(dtype, shape, BufferRef::Adopt(buffer));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Guarded(Tensor tensor) {
  if (!IsMemcpyable(tensor.dtype()) || !tensor.initialized() ||
      TensorGuards::Get().IsSurrounded(nullptr, tensor.data()))
    return tensor;
  Tensor copy;
  TENON_RETURN_IF_ERROR(BecomeGuarded(copy, tensor.dtype(), tensor.shape()));
  if (tensor.bytes() > 0) std::memcpy(copy.data(), tensor.data(), tensor.bytes());
  return copy;
}

}  // namespace tenon
