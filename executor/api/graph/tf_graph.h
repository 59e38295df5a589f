// The structs behind TF_Graph and TF_Operation, for the rooms that implement the client C API.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/graph/consumers.h"
#include "executor/api/graph/name_prefixes.h"
#include "graph/c_api/handles.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// The graph that a loop is built for, and the first values of its variables there.
struct LoopOwner {
  WeakHandle<TF_Graph> graph;
  std::vector<TF_Output> inputs;
  // The arrays of the loop's TF_WhileParams: of the condition, and of the body where this is one.
  std::vector<TF_Output> part_inputs, part_outputs;
};

}  // namespace tenon::api

// A node of a TF_Graph, under one address as long as the graph lives. Afterwards the memory stays,
// without a graph.
struct TF_Operation {
  bool is_deleted() const { return graph == nullptr; }

  TF_Graph* graph = nullptr;
  tenon::NodeId node = 0;
  // Texts that end in a NUL, made when they are first asked for (TextOf).
  mutable std::atomic<const char*> name{nullptr};
  mutable std::atomic<const char*> device{nullptr};
};

namespace tenon::api {

// The operations of a graph, by node id. Their memory outlives them, as that of any object of
// Handles: an operation of a deleted graph says so. Not thread-safe.
class Operations {
 public:
  Operations() = default;
  ~Operations() { Truncate(0); }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  size_t size() const { return size_; }
  TF_Operation& operator[](size_t i) { return chunks_[i / kChunk]->operations[i % kChunk]; }
  // Adds the operation of the node of the next id.
  void Add(TF_Graph* graph);
  // Takes those from `size` on out.
  void Truncate(size_t size);

 private:
  static constexpr size_t kChunk = 32;
  struct Chunk {
    std::array<TF_Operation, kChunk> operations;
    Chunk* next_idle = nullptr;  // of SharedHandlePool
  };
  std::vector<Chunk*> chunks_;
  size_t size_ = 0;
};

}  // namespace tenon::api

// A graph that grows. Nodes are only added, and ids of nodes never change.
struct TF_Graph {
  using Pool = tenon::Handles<TF_Graph>;
  TF_Graph();

  mutable absl::Mutex mutex;
  tenon::Graph graph ABSL_GUARDED_BY(mutex);
  // What is known of outputs. A graph that was imported as a whole is inferred when somebody asks:
  // call KnowShapes first.
  tenon::GraphShapes shapes ABSL_GUARDED_BY(mutex);
  tenon::api::Operations operations ABSL_GUARDED_BY(mutex);
  // Grows with each change of the graph, so that a session knows whether it has the whole graph.
  int64_t version ABSL_GUARDED_BY(mutex) = 0;
  // The nodes that were changed after they were added, while the graph had sessions; in the order
  // of the changes.
  std::vector<tenon::NodeId> changed ABSL_GUARDED_BY(mutex);
  tenon::api::Consumers consumers ABSL_GUARDED_BY(mutex);
  tenon::api::NamePrefixes prefixes ABSL_GUARDED_BY(mutex);
  // By NodeKind::index: op and attributes have been checked and are right.
  std::vector<bool> checked_kinds ABSL_GUARDED_BY(mutex);
  // What TF_SetHandleShapeAndType was given: serialized HandleData.
  absl::flat_hash_map<tenon::Output, std::string> handle_data ABSL_GUARDED_BY(mutex);
  // Whether an op without a shape function is refused.
  bool require_shape_fns ABSL_GUARDED_BY(mutex) = false;
  mutable std::deque<std::string> texts ABSL_GUARDED_BY(mutex);  // of operations

  absl::flat_hash_set<std::string> loop_frames ABSL_GUARDED_BY(mutex);  // of TF_FinishWhile
  // Of the graph of a loop's condition or body: the graph that gets the loop.
  std::unique_ptr<tenon::api::LoopOwner> loop_owner;

  // The graph goes when its owner has deleted it and no session uses it any more.
  int sessions ABSL_GUARDED_BY(mutex) = 0;
  bool deleted ABSL_GUARDED_BY(mutex) = false;
};

namespace tenon::api {

// The output that a TF_Output stands for, which must be of `graph`. INVALID_ARGUMENT if it has no
// operation, or an operation of another graph or of a deleted one; OUT_OF_RANGE for an index that
// the operation has not.
absl::StatusOr<Output> OutputOf(const TF_Graph& graph, TF_Output output)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);
// The reverse. {NULL, 0} for no output.
TF_Output OutputToC(TF_Graph& graph, Output output) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Infers the shapes of those of the first `nodes` nodes that have none yet. They stay unknown where
// that fails.
void KnowShapes(TF_Graph& graph, int32_t nodes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Gives each node that came to `graph.graph` since the last call a TF_Operation, and counts a
// change.
void NoteNewNodes(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Whether a node has the name, or a name "NAME/…". Call prefixes.CatchUp before.
bool IsTaken(const TF_Graph& graph, std::string_view name) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);

// Registers a session of the graph, and takes it out again. The second deletes the graph if that
// was the last session and the owner has deleted the graph. Neither may be called with the mutex
// held.
void AddSession(TF_Graph* graph);
void DropSession(TF_Graph* graph);

}  // namespace tenon::api
