// The clusters of one graph, ready to run.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "executor/clusters/cluster.h"
#include "executor/clusters/cluster_program.h"
#include "executor/clusters/find_clusters.h"
#include "executor/clusters/runnable_cluster.h"

namespace tenon {

// Must outlive all plans of the graph that Extract made. Thread-safe but for Extract.
class ClusterSet {
 public:
  ClusterSet(FoundClusters found, const ClusterOptions& options, OrdinaryKernelsFactory ordinary);

  // ExtractClusters, with nodes that run these clusters.
  absl::Status Extract(std::string_view host, Graph& graph, std::vector<Output>& fetches);

  // By node id of the graph in which the clusters were found.
  const ClusterMap& map() const { return map_; }
  size_t size() const { return clusters_.size(); }
  const RunnableCluster& at(size_t i) const { return *clusters_[i]; }
  // Of constants that are on the devices.
  int64_t weight_bytes() const { return surroundings_.weights->bytes(); }

 private:
  ClusterMap map_;
  ClusterSurroundings surroundings_;
  std::vector<std::unique_ptr<RunnableCluster>> clusters_;
};

}  // namespace tenon
