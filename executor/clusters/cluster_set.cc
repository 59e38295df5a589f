#include "executor/clusters/cluster_set.h"

#include <utility>

#include "executor/clusters/extract_clusters.h"

namespace tenon {

ClusterSet::ClusterSet(FoundClusters found, const ClusterOptions& options,
                       OrdinaryKernelsFactory ordinary)
    : map_(std::move(found.map)) {
  surroundings_.ordinary = std::move(ordinary);
  for (Cluster& cluster : found.clusters)
    clusters_.push_back(
        std::make_unique<RunnableCluster>(std::move(cluster), options, surroundings_));
}

absl::Status ClusterSet::Extract(std::string_view host, Graph& graph,
                                 std::vector<Output>& fetches) {
  std::vector<Cluster> clusters;
  std::vector<RunnableCluster*> runnable;
  for (const auto& cluster : clusters_) {
    clusters.push_back(cluster->cluster());
    runnable.push_back(cluster.get());
  }
  return ExtractClusters(clusters, map_, runnable, host, graph, fetches);
}

}  // namespace tenon
