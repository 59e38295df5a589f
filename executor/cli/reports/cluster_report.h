// Reports on clusters, the groups of nodes that a device compiles. Nodes have the ids of the graph
// in which the clusters were found.
#pragma once

#include <string>

#include "executor/clusters/cluster_set.h"
#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// The cluster of a node: "cluster_0", or why it is in none: "none: HOST"; empty for
// NoCluster::kNone.
std::string ClusterOf(const ClusterSet& clusters, NodeId n);
// Adds "cluster" with the name, or "no_cluster" with code and detail, to the object of a node. Adds
// nothing for NoCluster::kNone.
void AddClusterOf(const ClusterSet& clusters, NodeId n, Json& node);

// An array with an object for each cluster: name, device, counts, and what its runs did so far.
Json ClustersJson(const ClusterSet& clusters);
std::string ClustersText(const ClusterSet& clusters, const Style& style);

}  // namespace tenon::cli
