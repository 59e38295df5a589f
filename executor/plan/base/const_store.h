// The constants of an executable's graph. Each is decoded once, and aligned only if a run reads it.
// Pages of the model's file are dropped from memory when no reader needs them any more.
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

// `graph` must outlive the store. Tensors and pointers stay valid as long as the store.
// Thread-safe.
class ConstStore {
 public:
  explicit ConstStore(const Graph& graph) : graph_(graph) {}

  // The value of the Const node n. Its data may be unaligned and may lie in the mapped file.
  absl::StatusOr<const Tensor*> ValueOf(NodeId n);

  // The outputs of node n, which has only constants of the graph as inputs. nullopt until
  // SetFolded.
  std::optional<std::vector<Tensor>> Folded(NodeId n);
  void SetFolded(NodeId n, const std::vector<Tensor>& outputs);
  // Nobody reads them but nodes that are folded too. False: they are kept for other plans all the
  // same, since such values are few.
  bool ForgetFolded(NodeId n);

  // The same elements in memory that kernels can read. Small ones are packed together.
  absl::StatusOr<Tensor> Aligned(const Tensor& value);

  // A copy of a constant of the graph in the device's memory, made once.
  absl::StatusOr<Tensor> OnDevice(const Tensor& value, Device* device, double timeout_s);

  // The value was packed or copied: its file pages, if any, need not stay in memory.
  void DropPages(const Tensor& value);

  int64_t bytes() const;  // of aligned copies and of values that kernels packed
  void CountPacked(const Tensor& value);

 private:
  absl::StatusOr<Tensor> CopyLocked(const Tensor& value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Graph& graph_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Tensor>> values_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<NodeId, std::vector<Tensor>> folded_ ABSL_GUARDED_BY(mutex_);
  size_t folded_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Keyed by the original's address; the original is kept alive, so that the address stays its own.
  struct Copy {
    Tensor original, copy;
  };
  absl::flat_hash_map<const void*, Copy> aligned_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<const void*, Device*>, Copy> on_device_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const void*, int64_t> packed_ ABSL_GUARDED_BY(mutex_);
  BufferRef pool_ ABSL_GUARDED_BY(mutex_);
  size_t pool_used_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon
