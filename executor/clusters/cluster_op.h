// The op of a node that stands for a cluster, and its kernel. Both are registered when the first
// graph is compiled that may have clusters, not before: no file may hold the op, since an attribute
// is an address in this process.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

class RunnableCluster;  // executor/clusters/runnable_cluster.h

inline constexpr const char* kClusterOp = "_TenonCluster";

// Registers op and kernel with the process, once. Thread-safe.
absl::Status RegisterClusterOp();

// The attributes of a node for `runnable` with inputs and outputs of these types. One of them holds
// the address: `runnable` must outlive every plan of a graph with the node.
std::vector<Graph::NewAttr> ClusterAttrs(absl::Span<const DataType> constants,
                                         absl::Span<const DataType> arguments,
                                         absl::Span<const DataType> results,
                                         RunnableCluster* runnable);

}  // namespace tenon
