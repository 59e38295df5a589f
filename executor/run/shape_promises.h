// Decides whether plans rely on the output shapes that a plug-in's shape function promises.
//
// TensorFlow accepts any shape that a kernel gives its output. A plan with known shapes is much
// better, and a plug-in's shape function is mostly right. A plan relies on it while a run that
// finds it wrong can be repeated with another plan, that is, while runs have no lasting effects.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Returns `status` with a payload: an output of node n has another shape than promised.
absl::Status BrokenPromise(NodeId n, absl::Status status);

// Thread-safe after Note.
class ShapePromises {
 public:
  // Takes the nodes that the runs compute. Runs are repeatable if no node has a lasting effect.
  void Note(const Graph& graph, absl::Span<const NodeId> nodes);
  // Whether a plan may rely on the promised shapes of node n.
  bool Believed(const Graph& graph, NodeId n) const;
  // If `status` comes from BrokenPromise for a plug-in's shape function: warns, stops relying on
  // node n's shapes and returns true. Else returns false.
  bool Disbelieve(const Graph& graph, const absl::Status& status);

 private:
  bool repeatable_ = false;
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<NodeId> broken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
