// Computes outputs that depend on constants alone.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::api {

// Returns the value of the output, or nullopt if it depends on a node that is fed, has state,
// decides what runs, calls functions or has no kernel on the CPU. Runs built-in kernels on the
// calling thread. Errors are those of kernels.
absl::StatusOr<std::optional<Tensor>> ConstantValue(TF_Graph& graph, Output output)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
