// Gives variables, tables and queues their contents where a graph is run for a proof.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

// Copies the variables, tables and queues that `from` holds and that the graph, or a function that
// it calls, names. A run on the copies changes nothing in `from`. A variable and its copy share
// their elements until one of them is written, unless kernels change the variable in place.
// Variables without a value or of resource handles, barriers, accumulators and staging areas are
// not copied. What `to` has under the same name stays. Returns the first error of a copy, and
// copies the rest all the same: RESOURCE_EXHAUSTED without memory, or the error of a device that
// holds a value.
absl::Status CopyState(const Graph& graph, ResourceManager& from, ResourceManager& to);

// Makes up values for variables that nobody has made. Thread-compatible.
class MadeUpState {
 public:
  // Gives ordinary values (input_sets.h) to the graph's variables of known shape, and of a type
  // that CanMakeUp knows, that `state` does not hold. A variable that `state` holds without a value
  // stays without one. The values are not negative if the graph takes a root or a logarithm of
  // them, or uses them as variances, directly or through Identity, Cast, Reshape and additions.
  // What the first graph decides for a variable, a value or none, holds for all later graphs, as a
  // pass that changes how the variable is read must not change its value. Variables in bodies of
  // functions get no value. RESOURCE_EXHAUSTED without memory, and errors of AttrValue for a
  // variable's dtype or shape; the variables behind that one then get none.
  absl::Status Fill(const Graph& graph, ResourceManager& state);

 private:
  // By container and name; uninitialized: unknown.
  absl::flat_hash_map<std::pair<std::string, std::string>, Tensor> values_;
};

}  // namespace tenon
