// The op of a node that stands for a cluster, and its kernel. Both are registered when the first
// graph is compiled that may have clusters. A node of a file that has the op stands for no cluster,
// and preparing it fails.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

class RunnableCluster;  // executor/clusters/runnable_cluster.h

inline constexpr const char* kClusterOp = "_TenonCluster";

// Registers op and kernel with the process, once. Thread-safe.
absl::Status RegisterClusterOp();

// What a node says of its cluster: a number that stands for the object while it lives. The number
// is drawn at random, so that no file can know it. Thread-safe.
class ClusterNumber {
 public:
  explicit ClusterNumber(RunnableCluster& cluster);
  ~ClusterNumber();
  ClusterNumber(const ClusterNumber&) = delete;
  ClusterNumber& operator=(const ClusterNumber&) = delete;
  int64_t value() const { return value_; }

 private:
  int64_t value_ = 0;
};

// The attributes of a node for a cluster with inputs and outputs of these types. The cluster must
// outlive every plan of a graph with the node.
std::vector<Graph::NewAttr> ClusterAttrs(absl::Span<const DataType> constants,
                                         absl::Span<const DataType> arguments,
                                         absl::Span<const DataType> results,
                                         const ClusterNumber& number);

}  // namespace tenon
