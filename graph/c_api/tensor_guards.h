// What a plug-in writes where it may not, for --abi-check=strict: zones with a pattern around the
// tensors that its kernels get, and copies of what must not change.
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

// Memory that the host cannot reach by itself.
class FarMemory {
 public:
  virtual ~FarMemory() = default;
  // Behind all work that is queued. False: the bytes did not get there.
  virtual bool Read(const void* from, void* to, size_t bytes) = 0;
  virtual bool Write(void* to, const void* from, size_t bytes) = 0;
};

// The call that answers for a tensor's memory, and its name for the tensor: "output 0".
struct TensorUser {
  std::string plugin, callback, node, tensor;
};

// Thread-safe. A null FarMemory is the host's. Every tensor is named by where its data begin.
class TensorGuards {
 public:
  // On either side. Longer than what a plug-in writes too much, or the host's memory suffers.
  static constexpr size_t kZone = size_t{32} << 10;

  // One for the process.
  static TensorGuards& Get();

  // Host memory between zones; null where there is none. Freed blocks stay a while, to see who
  // still writes to them.
  Buffer* Allocate(size_t bytes);
  // Memory with kZone bytes more than it needs on both sides gets the pattern there, and answers to
  // the call in progress. Where the bytes do not arrive there is nothing to compare.
  void Surround(FarMemory* memory, void* data, size_t bytes);
  bool IsSurrounded(const FarMemory* memory, const void* data) const;
  // It answers to the call that is in progress now.
  void AnswerToCurrentCall(const FarMemory* memory, const void* data);
  // Nobody has the tensor any more: it stays as it is until it is forgotten.
  void Retire(const FarMemory* memory, const void* data);
  // The memory goes: looks at it a last time.
  void Forget(const FarMemory* memory, const void* data);
  // All of that memory.
  void ForgetAll(const FarMemory* memory);

  // `user` has had the tensor: what is wrong around it is its doing, and told at once. From now on
  // it answers for the tensor.
  void Check(const FarMemory* memory, const void* data, const TensorUser& user);
  // The tensor must not change any more, until somebody may write to it again.
  void Freeze(const FarMemory* memory, const void* data);
  // Whether it has kept still so far.
  void CheckFrozen(const FarMemory* memory, const void* data);
  // It has changed, which is told already.
  void AcceptChange(const FarMemory* memory, const void* data);
  void Thaw(const void* data);
  // Every tensor that there is, and the host's that were freed last.
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

// Bytes `bytes` of `memory` as they are now; empty where they cannot be had.
std::vector<char> BytesOf(FarMemory* memory, const void* data, size_t bytes);

// A tensor whose bytes are not `before` any more: "bytes 4 to 7 of it are written". Empty: they
// are.
std::string ChangeOf(const std::vector<char>& before, const std::vector<char>& now);

// Tensor::Become with guards where plug-ins are watched, as far as elements are bytes.
absl::Status BecomeGuarded(Tensor& tensor, DataType dtype, const Shape& shape);
// A tensor that has guards: itself, or a copy.
absl::StatusOr<Tensor> Guarded(Tensor tensor);

// For who writes to a tensor that nobody else has.
inline void MayBeWritten(const Tensor& tensor) {
  if (AbiWatch::Active() != nullptr) [[unlikely]]
    TensorGuards::Get().Thaw(tensor.data());
}

}  // namespace tenon
