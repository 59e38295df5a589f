// Bytes and node kinds that graphs refer to. Append-only, so that views into it stay valid; freed
// with the last graph (or tensor view) that shares it.
#pragma once

#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "graph/ir/graph.h"

namespace tenon {

class FunctionScope;

// Thread-safe: copies of a graph share their storage and may be edited on different threads.
class GraphStorage {
 public:
  // Of the body of a function: what its nodes may call besides functions of their own graph. Set
  // before the graph is copied.
  void Share(std::shared_ptr<FunctionScope> functions) { functions_ = std::move(functions); }
  const std::shared_ptr<FunctionScope>& functions() const { return functions_; }

  // A copy of `bytes` that lives as long as the storage; the last one, if they are the same.
  std::string_view Copy(std::string_view bytes);
  // A message field that comes several times: protobuf merges them, which is to concatenate their
  // bytes.
  std::string_view Join(std::string_view before, std::string_view more);

  // A copy of both parts, one behind the other, with the second one at an address that kernels
  // want: then Aligns is true of it.
  std::string_view JoinAligned(std::string_view head, std::string_view elements);
  bool Aligns(const void* elements);

  // Keeps `owner` (a mapped file, a decompressed buffer) alive.
  void Keep(std::shared_ptr<const void> owner);

  // The same for a mapped file; DropPages may then let its pages go. They come back from the file
  // when they are read again.
  void KeepMapping(std::string_view bytes, std::shared_ptr<const void> owner);
  // Whole pages of `bytes` that lie in a mapping leave the process's memory; nothing happens to
  // other bytes.
  void DropPages(std::string_view bytes);

  const NodeKind* Add(NodeKind kind);
  const OpDef* Add(OpDef op);

 private:
  char* Reserve(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::shared_ptr<FunctionScope> functions_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<char[]>> blocks_ ABSL_GUARDED_BY(mutex_);
  char* next_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t left_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string_view last_ ABSL_GUARDED_BY(mutex_);
  size_t block_bytes_ ABSL_GUARDED_BY(mutex_) = 256;  // of the last block: bodies are small
  std::deque<NodeKind> kinds_ ABSL_GUARDED_BY(mutex_);
  std::deque<OpDef> ops_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const void>> owners_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string_view> mappings_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<const void*> aligned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
