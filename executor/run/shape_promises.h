// Whether plans believe what an op's shape function promises of its outputs.
//
// TensorFlow takes any shape that a kernel gives its output. A plan with shapes is much the better
// one, and a plug-in's shape function is mostly right: it is believed as long as a run that finds
// it wrong can be made again, by another plan. That is, as long as nothing lasts that the run does.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Marks the error of a run in which an output of node n has another shape than promised.
absl::Status BrokenPromise(NodeId n, absl::Status status);

// Thread-safe but for Note.
class ShapePromises {
 public:
  // What the runs compute.
  void Note(const Graph& graph, absl::Span<const NodeId> nodes);
  bool Believed(const Graph& graph, NodeId n) const;
  // Whether `status` is that of a promise by a plug-in; it is not believed any more.
  bool Disbelieve(const Graph& graph, const absl::Status& status);

 private:
  bool repeatable_ = false;
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<NodeId> broken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
