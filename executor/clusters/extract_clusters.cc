#include "executor/clusters/extract_clusters.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/clusters/cluster_op.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

std::vector<DataType> OutputTypesOf(const Graph& graph, absl::Span<const Output> outputs) {
  std::vector<DataType> types;
  for (const Output& o : outputs) types.push_back(graph.output_type(o));
  return types;
}

class ClusterExtractor {
 public:
  ClusterExtractor(absl::Span<const Cluster> clusters, const ClusterMap& map, Graph& graph)
      : clusters_(clusters), map_(map), graph_(graph), old_ids_(graph.num_node_ids()) {}

  absl::Status AddNodes(absl::Span<RunnableCluster* const> runnable, std::string_view host) {
    for (size_t c = 0; c < clusters_.size(); ++c) {
      const Cluster& cluster = clusters_[c];
      std::vector<Output> inputs = cluster.constants;
      inputs.insert(inputs.end(), cluster.arguments.begin(), cluster.arguments.end());
      TENON_ASSIGN_OR_RETURN(const NodeId n,
                             graph_.AddNode(cluster.name, kClusterOp, inputs,
                                            ClusterAttrs(OutputTypesOf(graph_, cluster.constants),
                                                         OutputTypesOf(graph_, cluster.arguments),
                                                         OutputTypesOf(graph_, cluster.results),
                                                         runnable[c]->number()),
                                            host));
      nodes_.push_back(n);
      for (size_t i = 0; i < cluster.results.size(); ++i)
        results_[cluster.results[i]] = {n, static_cast<int32_t>(i)};
    }
    return absl::OkStatus();
  }

  // Members keep their inputs: nothing needs them any more.
  void MoveReaders() {
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (!graph_.alive(n) || (n < old_ids_ && IsMember(n))) continue;
      for (size_t i = 0; i < graph_.inputs(n).size(); ++i) {
        const Output from = graph_.inputs(n)[i];
        const Output now = Moved(from);
        if (!(now == from)) graph_.SetInput(n, static_cast<int>(i), now);
      }
      DropRepeatedControl(n);
    }
  }

  void AddControlInputs() {
    for (size_t c = 0; c < clusters_.size(); ++c) {
      for (const NodeId n : clusters_[c].nodes) {
        for (const Output& from : clusters_[c].graph->control_inputs(n)) {
          const Output now = Moved(from);
          if (now.node != nodes_[c]) graph_.AddControlInput(nodes_[c], now.node);
        }
      }
    }
  }

  Output Moved(Output o) const {
    if (o.node == kNoNode || o.node >= old_ids_ || !IsMember(o.node)) return o;
    if (o.is_control()) return {nodes_[map_.of[o.node]], kControlPort};
    const auto it = results_.find(o);
    return it == results_.end() ? o : it->second;
  }

 private:
  // A constant is in clusters, and all the same there for others to read.
  bool IsMember(NodeId n) const { return map_.of[n] >= 0 && graph_.op_name(n) != "Const"; }

  // Several members of one cluster may have been control inputs of one node.
  void DropRepeatedControl(NodeId n) {
    const std::vector<Output> control(graph_.control_inputs(n).begin(),
                                      graph_.control_inputs(n).end());
    absl::flat_hash_set<NodeId> seen;
    std::vector<Output> kept;
    for (const Output& from : control) {
      if (seen.insert(from.node).second) kept.push_back(from);
    }
    if (kept.size() == control.size()) return;
    const std::vector<Output> data(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
    graph_.SetInputs(n, data, kept);
  }

  const absl::Span<const Cluster> clusters_;
  const ClusterMap& map_;
  Graph& graph_;
  const int32_t old_ids_;
  std::vector<NodeId> nodes_;  // by cluster
  absl::flat_hash_map<Output, Output> results_;
};

}  // namespace

absl::Status ExtractClusters(absl::Span<const Cluster> clusters, const ClusterMap& map,
                             absl::Span<RunnableCluster* const> runnable, std::string_view host,
                             Graph& graph, std::vector<Output>& fetches) {
  ClusterExtractor extractor(clusters, map, graph);
  TENON_RETURN_IF_ERROR(extractor.AddNodes(runnable, host));
  extractor.MoveReaders();
  extractor.AddControlInputs();
  for (Output& fetch : fetches) fetch = extractor.Moved(fetch);
  return absl::OkStatus();
}

}  // namespace tenon
