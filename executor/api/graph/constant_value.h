// Computes outputs that depend on constants alone.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::api {

// Returns the value of the output, which must exist. Calls KnowShapes for all nodes first. A value
// that shape inference knows is taken from it, whatever the output depends on: Shape of a
// placeholder of known shape has a value. Any other value is computed from its inputs. Returns
// nullopt if this needs one of these nodes: a placeholder; a node that is stateful, reads from
// outside of the graph, is control flow (Switch, Merge and the like) or calls functions; a node
// with a control input or with an input of a higher id; a node that no kernel of the CPU can
// compute (UNIMPLEMENTED). The value may be a view of the graph's bytes, which it keeps alive; the
// view may be unaligned. Runs built-in kernels on the calling thread. Errors are those of the
// kernels, and RESOURCE_EXHAUSTED for a node with more than 1 GiB of results.
absl::StatusOr<std::optional<Tensor>> ConstantValue(TF_Graph& graph, Output output)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
