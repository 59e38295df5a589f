// Finds the clusters of a placed graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "executor/clusters/cluster.h"
#include "executor/clusters/cluster_policy.h"
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
  ClusterPolicy policy = {};
  // Whether a node's device has a kernel for it. Asked for nodes on devices that compile and have
  // kernels; must be set if there is such a node.
  std::function<bool(NodeId)> has_kernel = nullptr;
  // Compiles clusters of nodes on the host that the policy wants; null: nothing does.
  pjrt::ProgramDevice* host_compiler = nullptr;
  std::function<bool(NodeId)> leave_out = nullptr;  // nodes for no cluster (kOff); null: none
};

// Puts nodes that their placement gives to one device that compiles into clusters, so that the
// graph of clusters and other nodes has no cycle. On a device that has kernels those are taken that
// the policy wants, and each node without a kernel makes a cluster of its own unless it is wanted,
// too. On a device without kernels those are taken that the policy does not forbid. ClusterMap::why
// says why others are in none. The nodes of a cluster are connected, unless the policy bounds its
// size, and always run together. Linear in the graph, but for graphs with values that cannot leave
// a cluster, where it is repeated a few times.
FoundClusters FindClusters(const ClusterInput& input);

}  // namespace tenon
