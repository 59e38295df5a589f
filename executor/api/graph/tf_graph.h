// The structs behind TF_Graph and TF_Operation, for the rooms that implement the client C API.
#pragma once

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
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// The graph that a loop is built for, and the first values of its variables there.
struct LoopOwner {
  TF_Graph* graph;
  std::vector<TF_Output> inputs;
};

}  // namespace tenon::api

// A node of a TF_Graph, under one address as long as the graph lives.
struct TF_Operation {
  TF_Operation(TF_Graph* g, tenon::NodeId n) : graph(g), node(n) {}

  TF_Graph* const graph;
  const tenon::NodeId node;
  // Texts that end in a NUL, made when they are first asked for (TextOf).
  mutable std::atomic<const char*> name{nullptr};
  mutable std::atomic<const char*> device{nullptr};
};

// A graph that grows. Nodes are only added, and ids of nodes never change.
struct TF_Graph {
  TF_Graph();

  mutable absl::Mutex mutex;
  tenon::Graph graph ABSL_GUARDED_BY(mutex);
  // What is known of outputs. A graph that was imported as a whole is inferred when somebody asks:
  // call KnowShapes first.
  tenon::GraphShapes shapes ABSL_GUARDED_BY(mutex);
  std::deque<TF_Operation> operations ABSL_GUARDED_BY(mutex);  // by node id
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
// operation, or an operation of another graph; OUT_OF_RANGE for an index that the operation has
// not.
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
