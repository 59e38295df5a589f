// Finds writes of plug-ins outside of their tensors and at the wrong time, for --abi-check=strict.
// Puts zones with a pattern around the tensors that kernels of plug-ins get, and keeps copies of
// tensors that must not change.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/c_api/abi_watch.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Access to memory that the host cannot read directly, such as a device's. Thread-safe.
class FarMemory {
 public:
  virtual ~FarMemory() = default;
  // Read copies `bytes` bytes to host memory, Write from host memory. Both copy after all work that
  // is queued on the device, and wait. False: the copy failed.
  virtual bool Read(const void* from, void* to, size_t bytes) = 0;
  virtual bool Write(void* to, const void* from, size_t bytes) = 0;
};

// The call that violations around a tensor are attributed to, and the call's name for the tensor:
// "output 0".
struct TensorUser {
  std::string plugin, callback, node, tensor;
};

// The guards of all tensors. A tensor is named by its memory and the address of its first element;
// a null FarMemory means the host's memory. A FarMemory must live until its guards are forgotten.
// To check a tensor is to look for damage of its zones and, while it is frozen, for a change of its
// content. Calls for a tensor without a guard do nothing. Violations are reported to AbiWatch;
// while it is off they are lost. A check that finds damage of a zone restores the zone; a check
// that finds a change takes the new content as right. A change that cannot be read is not reported.
// Thread-safe.
class TensorGuards {
 public:
  // Bytes of the zone on either side of a tensor. A plug-in's overrun must be shorter than the
  // zone, or it damages the host's memory.
  static constexpr size_t kZone = size_t{32} << 10;

  // The guards of the process; never destroyed.
  static TensorGuards& Get();

  // Returns `bytes` of host memory between two zones, as a buffer with one reference, aligned to
  // kTensorAlignment; null when memory is short. The call in progress becomes the tensor's user.
  // When the last reference goes, the tensor is checked. Its block is kept for a while to find late
  // writes: the blocks that were freed last, up to 64 MiB in all with their zones.
  Buffer* Allocate(size_t bytes);
  // Puts a guard around `bytes` of memory at `data`. The caller has allocated kZone bytes more on
  // both sides. The call in progress becomes the tensor's user. Adds no guard where the pattern
  // cannot be written and read back. Replaces a guard of the same memory and address, unchecked.
  void Surround(FarMemory* memory, void* data, size_t bytes);
  bool IsSurrounded(const FarMemory* memory, const void* data) const;
  // Makes the call in progress the tensor's user.
  void AttributeToCurrentCall(const FarMemory* memory, const void* data);
  // The tensor has no owner now, but the memory stays: checks the tensor and freezes it, within the
  // limits of Freeze. A change that is found later is reported as a write after the tensor was
  // freed.
  void Retire(const FarMemory* memory, const void* data);
  // Checks the tensor a last time and removes the guard, since the memory is about to be freed.
  void Forget(const FarMemory* memory, const void* data);
  // Forget, for all tensors in `memory`.
  void ForgetAll(const FarMemory* memory);

  // Checks the tensor after `user` had access. A damaged zone is reported as the doing of `user`, a
  // change of a frozen tensor as that of the user before. `user` becomes the tensor's user.
  void Check(const FarMemory* memory, const void* data, const TensorUser& user);
  // Copies the tensor: until Thaw or Forget, checks report a change of the tensor. A second call
  // takes the present content as right, without a check. Does nothing for a tensor above 32 MiB, or
  // if all copies would then take more than 512 MiB. A tensor that cannot be read is not frozen.
  void Freeze(const FarMemory* memory, const void* data);
  // Reports a violation if a frozen tensor has changed.
  void CheckFrozen(const FarMemory* memory, const void* data);
  // Takes the present content of a frozen tensor as right. For a change that the caller has
  // reported.
  void AcceptChange(const FarMemory* memory, const void* data);
  // Does what CheckFrozen does for each tensor whose first element is at `data`, in whatever
  // memory. From now on these tensors may change.
  void Thaw(const void* data);
  // Checks all tensors, and the kept blocks of freed tensors.
  void CheckAll();

 private:
  struct Guard;
  using Key = std::pair<const void*, const FarMemory*>;

  TensorGuards() = default;
  std::shared_ptr<Guard> Find(const FarMemory* memory, const void* data) const;
  void Add(std::shared_ptr<Guard> guard);
  std::shared_ptr<Guard> Take(const FarMemory* memory, const void* data);
  void Bury(std::shared_ptr<Guard> guard);
  static void Free(void* data, size_t bytes, void* arg);

  mutable absl::Mutex mutex_;
  std::map<Key, std::shared_ptr<Guard>> guards_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Guard>> buried_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  size_t buried_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns a copy of `bytes` bytes at `data` in `memory`, null for the host's; empty if they cannot
// be read.
std::vector<char> BytesOf(FarMemory* memory, const void* data, size_t bytes);

// Names the first and the last byte of `now` that differ from `before`, counted from 0: "bytes 4 to
// 7 are written", "byte 4 is written". Bytes between these may be equal. Empty if all are equal.
// Compares as many bytes as the shorter one has.
std::string ChangeOf(const std::vector<char>& before, const std::vector<char>& now);

// Tensor::Become, with a guard while AbiWatch is on. Tensors of strings, resources and variants get
// no guard: their elements own memory. Nor does a tensor for which memory with zones is short.
// Errors are those of Tensor::Become.
absl::Status BecomeGuarded(Tensor& tensor, DataType dtype, const Shape& shape);
// Returns `tensor` itself if it has a guard, is uninitialized or can have no guard; else a copy,
// with a guard while AbiWatch is on. The tensor must be in host memory. Errors are those of
// BecomeGuarded.
absl::StatusOr<Tensor> Guarded(Tensor tensor);

// The host calls this before it writes to a tensor of which it has the only share, so that the
// write is no violation.
inline void MayBeWritten(const Tensor& tensor) {
  if (AbiWatch::Active() != nullptr) [[unlikely]]
    TensorGuards::Get().Thaw(tensor.data());
}

}  // namespace tenon
