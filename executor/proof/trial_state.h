// What variables, tables and queues hold where a graph is run for a proof.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

// Gives `to` a copy of each variable, table and queue that `from` holds and that the graph, or a
// function that it calls, knows by name. A run on a copy changes nothing in `from`; elements of
// variables are shared until one of both writes them. Barriers, accumulators and staging areas are
// not copied, nor are variables of resource handles.
absl::Status CopyState(const Graph& graph, ResourceManager& from, ResourceManager& to);

// Values for variables that nobody has given any. Used on one thread.
class MadeUpState {
 public:
  // Gives ordinary values to the variables of known type and shape that hold none: positive ones if
  // the graph takes a root or a logarithm of them, or if they are variances. A variable has the
  // same value in each graph: that of the first one. Variables in bodies of functions get none.
  absl::Status Fill(const Graph& graph, ResourceManager& state);

 private:
  absl::flat_hash_map<std::string, Tensor> values_;  // by container and name
};

}  // namespace tenon
