// The constants that all plans of an executable share: decoded values of Const nodes, outputs of
// nodes that are computed ahead, aligned copies, copies on devices. A constant is decoded once, and
// aligned only if a run reads it. If it takes 64 KiB or more, its pages of the model's file are
// dropped from memory when Aligned has copied them, or when DropPages says that no run reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"

namespace tenon {

// Thread-safe. `graph` must outlive the store. Pointers are valid as long as the store. A tensor
// shares its memory with the store; one that views the model's file is valid as long as the graph.
class ConstStore {
 public:
  explicit ConstStore(const Graph& graph) : graph_(graph) {}

  // The value of the Const node n. Its data may be unaligned and may lie in the mapped file. Errors
  // are those of Graph::ConstValue, without the node's name.
  absl::StatusOr<const Tensor*> ValueOf(NodeId n);

  // The outputs of a node that has only constants of the graph as inputs, so that all plans agree
  // on them. Folded returns what SetFolded stored for node n; nullopt if nothing is stored. A
  // SetFolded for a node with stored outputs changes nothing.
  std::optional<std::vector<Tensor>> Folded(NodeId n);
  void SetFolded(NodeId n, const std::vector<Tensor>& outputs);
  // To be called when all readers of node n are folded too. Drops the outputs of node n, if any are
  // stored, and returns true: the caller may clear its own copies. Returns false and keeps them for
  // the next plan while the stored outputs of all nodes take at most 16 MiB.
  bool ForgetFolded(NodeId n);

  // A tensor with the same elements where built-in kernels can read them: `value` itself if its
  // elements are no plain bytes, if it owns an aligned buffer, or if IsAligned (shared_const.h) is
  // true; else a copy that is made once, also of an aligned view of the file. A copy of 64 bytes
  // or more is aligned to 64 bytes; a smaller one to its size, rounded up to a power of two (at
  // least 4). Copies of up to 1 KiB are packed together. RESOURCE_EXHAUSTED without memory for a
  // copy.
  absl::StatusOr<Tensor> Aligned(const Tensor& value);

  // A copy of `value`, a constant of the graph, in the memory of `device`; made once for each
  // device. Waits at most `timeout_s` seconds for the queued copy. While one thread copies, calls
  // that look into the store wait, longer than `timeout_s` too. Errors are those of CopyOnDevice.
  absl::StatusOr<Tensor> OnDevice(const Tensor& value, Device* device, double timeout_s);

  // States that no run reads `value`, since it was packed or copied. If `value` lies in the mapped
  // file and takes 64 KiB or more, its pages leave memory; a later access reads them from the file
  // again. Else does nothing.
  void DropPages(const Tensor& value);

  // The memory for constants that runs read, in bytes: aligned copies, values that passes have put
  // aligned into the graph's storage, and values that kernels packed.
  int64_t bytes() const;
  // Adds a value that a kernel packed to bytes(), once, with the size of the value itself.
  void CountPacked(const Tensor& value);

 private:
  absl::StatusOr<Tensor> CopyLocked(const Tensor& value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Graph& graph_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Tensor>> values_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<NodeId, std::vector<Tensor>> folded_ ABSL_GUARDED_BY(mutex_);
  size_t folded_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Maps with copies are keyed by address and size of the original. The original stays alive, so
  // that no other tensor can get its address.
  using Bytes = std::pair<const void*, size_t>;
  struct Copy {
    Tensor original, copy;
  };
  absl::flat_hash_map<Bytes, Copy> aligned_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<Bytes, Device*>, Copy> on_device_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const void*, int64_t> packed_ ABSL_GUARDED_BY(mutex_);
  BufferRef pool_ ABSL_GUARDED_BY(mutex_);
  size_t pool_used_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon
