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

// The graph that gets a loop of TF_NewWhile.
struct LoopOwner {
  WeakHandle<TF_Graph> graph;
  std::vector<TF_Output> inputs;  // outputs of `graph`: the first values of the loop's variables
  // The arrays of the loop's TF_WhileParams: of the condition, and of the body where this is one.
  std::vector<TF_Output> part_inputs, part_outputs;
};

}  // namespace tenon::api

// A node of a TF_Graph. Its address stays the same as long as the graph lives. Afterwards the
// memory stays, without a graph until another graph uses it.
struct TF_Operation {
  bool is_deleted() const { return graph == nullptr; }

  TF_Graph* graph = nullptr;
  tenon::NodeId node = 0;
  // Texts that end in a NUL, in TF_Graph::texts. Null until somebody asks for them.
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
  // Removes the operations from number `size` on.
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

// A graph that grows. A caller of the C API can add nodes but not remove them, and ids of nodes
// never change.
struct TF_Graph {
  using Pool = tenon::Handles<TF_Graph>;
  TF_Graph();

  mutable absl::Mutex mutex;
  tenon::Graph graph ABSL_GUARDED_BY(mutex);
  // The inferred facts of outputs. It may lack nodes, as an import may leave the inference for
  // later: call KnowShapes before you read it.
  tenon::GraphShapes shapes ABSL_GUARDED_BY(mutex);
  tenon::api::Operations operations ABSL_GUARDED_BY(mutex);
  // Grows with each change of the graph, so that a session can tell whether its copy is current.
  int64_t version ABSL_GUARDED_BY(mutex) = 0;
  // The nodes whose inputs, attributes or device changed after they were added, while the graph had
  // sessions: one entry for each change, in order.
  std::vector<tenon::NodeId> changed ABSL_GUARDED_BY(mutex);
  // The nodes whose inputs or attributes changed after they were added, each perhaps several times.
  // What `shapes` knows of them, and of what follows from them, is of before.
  std::vector<tenon::NodeId> edited ABSL_GUARDED_BY(mutex);
  tenon::api::Consumers consumers ABSL_GUARDED_BY(mutex);
  tenon::api::NamePrefixes prefixes ABSL_GUARDED_BY(mutex);
  // By NodeKind::index: whether CheckKindOf has found op and attributes right. May be too short.
  std::vector<bool> checked_kinds ABSL_GUARDED_BY(mutex);
  // By output: the HandleData bytes that TF_SetHandleShapeAndType got.
  absl::flat_hash_map<tenon::Output, std::string> handle_data ABSL_GUARDED_BY(mutex);
  // Whether an op without a shape function is refused.
  bool require_shape_fns ABSL_GUARDED_BY(mutex) = false;
  mutable std::deque<std::string> texts ABSL_GUARDED_BY(mutex);  // TF_Operation points to these

  // The frame names of the loops that TF_FinishWhile has added.
  absl::flat_hash_set<std::string> loop_frames ABSL_GUARDED_BY(mutex);
  // Set, before the caller of TF_NewWhile has this graph, if it is the condition or the body of a
  // loop; else null.
  std::unique_ptr<tenon::api::LoopOwner> loop_owner;

  // `sessions` counts the sessions that use the graph. The graph is freed when it is 0 and
  // TF_DeleteGraph was called (`deleted`).
  int sessions ABSL_GUARDED_BY(mutex) = 0;
  bool deleted ABSL_GUARDED_BY(mutex) = false;
};

namespace tenon::api {

// The output that `output` names. INVALID_ARGUMENT if output.oper is null, of another graph or of a
// deleted one; OUT_OF_RANGE if the operation has no output with this index.
absl::StatusOr<Output> OutputOf(const TF_Graph& graph, TF_Output output)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);
// The TF_Output of a data output; {NULL, 0} if output.node is kNoNode.
TF_Output OutputToC(TF_Graph& graph, Output output) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Infers the shapes of those of the nodes with ids below `nodes` that have none yet. A shape stays
// unknown if its inference fails.
void KnowShapes(TF_Graph& graph, int32_t nodes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Makes a TF_Operation for each node that was added to graph.graph since the last call, and counts
// one change in graph.version. To be called after each addition.
void NoteNewNodes(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Whether some node is named `name`, or has a name that begins with `name` and '/'. The caller has
// called graph.prefixes.CatchUp.
bool IsTaken(const TF_Graph& graph, std::string_view name) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);

// AddSession counts a session that uses the graph, DropSession takes one back. DropSession frees
// the graph if no session is left and TF_DeleteGraph was called. The caller must not hold
// graph->mutex.
void AddSession(TF_Graph* graph);
void DropSession(TF_Graph* graph);

}  // namespace tenon::api
