// Finds the clusters of a placed graph.
#pragma once

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "executor/clusters/cluster.h"
#include "executor/place/placer.h"

namespace tenon {

struct FoundClusters {
  std::vector<Cluster> clusters;
  ClusterMap map;
};

// The part of a graph that a run computes.
struct ClusterInput {
  std::shared_ptr<const Graph> graph;
  absl::Span<const NodePlacement> placement;  // by node id
  absl::Span<const NodeId> order;             // the nodes that run or are fed, producers first
  const std::vector<bool>& runs;              // by node id: the run computes the node
  absl::Span<const Output> feeds;
  absl::Span<const Output> fetches;
};

// Puts nodes that their placement gives to one device that compiles into clusters: as few as can be
// if the graph of clusters and other nodes is to have no cycle. The nodes of a cluster are
// connected, and always run together. Linear in the graph, but for graphs with values that cannot
// leave a cluster, where it is repeated a few times.
FoundClusters FindClusters(const ClusterInput& input);

}  // namespace tenon
