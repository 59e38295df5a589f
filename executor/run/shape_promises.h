// Decides whether plans rely on the output shapes that a plug-in's shape function promises.
//
// TensorFlow accepts any shape that a kernel gives its output. A plan with known shapes is much
// better, and a plug-in's shape function is mostly right. A plan relies on it as long as a run that
// finds it wrong can be repeated with another plan. That is so if runs have no lasting effects.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Returns `status`, an error, with a payload, which says that an output of node n has another shape
// than promised. The payload stays when the message is annotated.
absl::Status BrokenPromise(NodeId n, absl::Status status);

// For one graph, which all calls must pass. Thread-safe after Note.
class ShapePromises {
 public:
  // Takes the nodes that the runs compute. If one of them has a lasting effect, or has an unknown
  // op, no plug-in's shape function is relied on. To be called once, before all else; without it
  // none is relied on either.
  void Note(const Graph& graph, absl::Span<const NodeId> nodes);
  // Whether a plan may rely on the promised shapes of node n, whose op must be known. Always true
  // unless a plug-in brought the op's shape function.
  bool Believed(const Graph& graph, NodeId n) const;
  // If `status` comes from BrokenPromise(n) for a node n of which a plug-in has the shape function:
  // warns, stops relying on the promised shapes of n and returns true. A second call for n does the
  // same. Else returns false.
  bool Disbelieve(const Graph& graph, const absl::Status& status);

 private:
  bool repeatable_ = false;
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<NodeId> broken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
