// Bytes and node kinds that graphs refer to. Append-only, so that views into the storage stay
// valid. Freed with the last graph, or tensor view, that shares the storage: what a graph no longer
// uses is not freed before.
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
  ~GraphStorage();

  // For the graph of a function's body: sets the functions that nodes may call besides the
  // functions of their own graph. Call it before the graph is copied or used on several threads.
  void Share(std::shared_ptr<FunctionScope> functions) { functions_ = std::move(functions); }
  // Null unless Share was called.
  const std::shared_ptr<FunctionScope>& functions() const { return functions_; }

  // Makes an empty storage for a graph that has views of `base` and puts what is new into its own
  // storage. The new storage keeps `base` and shares its functions. Indexes of its kinds begin
  // behind those that `base` has now.
  static std::shared_ptr<GraphStorage> Over(std::shared_ptr<GraphStorage> base);

  // Returns a copy of `bytes` that lives as long as the storage; for no bytes, a view with null
  // data. Returns the copy made last if the bytes are the same: equal attributes often come one
  // after the other.
  std::string_view Copy(std::string_view bytes);

  // Returns a copy of both parts, one behind the other, with `elements` at a multiple of
  // kTensorAlignment. Aligns is then true of the address of the elements' copy.
  std::string_view JoinAligned(std::string_view head, std::string_view elements);
  // Whether JoinAligned has put elements at this address.
  bool Aligns(const void* elements);

  // Keeps `owner` (a mapped file, a decompressed buffer) alive as long as the storage.
  void Keep(std::shared_ptr<const void> owner);

  // Keep for `bytes`, a mapped file. DropPages may then let pages of the file go.
  void KeepMapping(std::string_view bytes, std::shared_ptr<const void> owner);
  // Takes the whole pages of `bytes` out of the process's memory if they lie in a mapping given to
  // KeepMapping; else does nothing. The bytes stay valid: reading them fetches the pages from the
  // file again.
  void DropPages(std::string_view bytes);

  // Take over a kind or op. The pointers live as long as the storage. Add sets the index of the
  // kind.
  const NodeKind* Add(NodeKind kind);
  const OpDef* Add(OpDef op);

 private:
  char* Reserve(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::shared_ptr<GraphStorage> base_;  // of Over; else null
  uint32_t first_kind_ = 0;             // the index of the first kind
  std::shared_ptr<FunctionScope> functions_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<char[]>> blocks_ ABSL_GUARDED_BY(mutex_);
  char* next_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t left_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string_view last_ ABSL_GUARDED_BY(mutex_);
  size_t block_bytes_ ABSL_GUARDED_BY(mutex_) = 256;      // of the last block: bodies are small
  std::vector<NodeKind*> kinds_ ABSL_GUARDED_BY(mutex_);  // they stand in blocks_
  std::deque<OpDef> ops_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const void>> owners_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string_view> mappings_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<const void*> aligned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
