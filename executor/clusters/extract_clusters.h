// Puts one node in the place of each cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/clusters/cluster.h"

namespace tenon {

class RunnableCluster;  // executor/clusters/runnable_cluster.h

// Adds to `graph`, a copy of the clusters' graph with the same ids, a node for each cluster: its op
// is kClusterOp, its inputs are the constants and then the arguments, its outputs the results.
// Readers of results, `fetches` and control edges move to it. The nodes of the clusters stay, and
// nothing that runs needs them any more, but for constants that other nodes read. `runnable`: by
// cluster, what the kernel of its node runs; it must outlive every plan of the graph. `host`: the
// full name of the host, which becomes the device of the new nodes. RegisterClusterOp must have
// returned OK. Errors are those of Graph::AddNode; `graph` may have some of the new nodes then.
absl::Status ExtractClusters(absl::Span<const Cluster> clusters, const ClusterMap& map,
                             absl::Span<RunnableCluster* const> runnable, std::string_view host,
                             Graph& graph, std::vector<Output>& fetches);

}  // namespace tenon
