// Computes outputs that depend on constants alone.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::api {

// Returns the value of the output, which must exist, or nullopt if it depends on a node that is
// fed, has state, control inputs or an input of a higher id, decides what runs, reads from outside,
// calls functions or has no kernel on the CPU. The value may be a view of the graph's bytes. Runs
// built-in kernels on the calling thread. Errors are those of kernels, and RESOURCE_EXHAUSTED for a
// node with more than 1 GiB of results.
absl::StatusOr<std::optional<Tensor>> ConstantValue(TF_Graph& graph, Output output)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
