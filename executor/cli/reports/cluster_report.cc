#include "executor/cli/reports/cluster_report.h"

#include "absl/strings/str_cat.h"
#include "graph/base/one_line.h"

namespace tenon::cli {

std::string ClusterOf(const ClusterSet& clusters, NodeId n) {
  const ClusterMap& map = clusters.map();
  if (map.of[n] >= 0) return clusters.at(map.of[n]).cluster().name;
  if (map.why[n] == NoCluster::kNone) return "";
  return absl::StrCat("none: ", NoClusterName(map.why[n]));
}

void AddClusterOf(const ClusterSet& clusters, NodeId n, Json& node) {
  const ClusterMap& map = clusters.map();
  if (map.of[n] >= 0) {
    node.Set("cluster", clusters.at(map.of[n]).cluster().name);
  } else if (map.why[n] != NoCluster::kNone) {
    Json why = Json::Object();
    why.Set("code", NoClusterName(map.why[n])).Set("detail", NoClusterMeans(map.why[n]));
    node.Set("no_cluster", std::move(why));
  }
}

Json ClustersJson(const ClusterSet& clusters) {
  Json array = Json::Array();
  for (size_t i = 0; i < clusters.size(); ++i) {
    const Cluster& cluster = clusters.at(i).cluster();
    const ClusterRuns runs = clusters.at(i).runs();
    Json dims = Json::Array();
    for (const OpenDimReport& dim : runs.open_dims) {
      Json row = Json::Object();
      row.Set("input", dim.input)
          .Set("dimension", dim.dimension)
          .Set("padded", dim.why_not.empty())
          .Set("why_not", OneLine(dim.why_not));
      dims.Push(std::move(row));
    }
    Json json = Json::Object();
    json.Set("name", cluster.name)
        .Set("device", cluster.device->short_name())
        .Set("nodes", cluster.nodes.size())
        .Set("constants", cluster.constants.size())
        .Set("arguments", cluster.arguments.size())
        .Set("results", cluster.results.size())
        .Set("programs", runs.programs)
        .Set("compiling", runs.compiling)
        .Set("runs", runs.runs)
        .Set("padded_runs", runs.padded_runs)
        .Set("ordinary_runs", runs.ordinary_runs)
        .Set("reason", OneLine(runs.reason))
        .Set("open_dimensions", std::move(dims));
    array.Push(std::move(json));
  }
  return array;
}

std::string ClustersText(const ClusterSet& clusters, const Style& style) {
  Table table({"cluster", "device", ">nodes", ">arguments", ">deciding shapes", ">results",
               ">programs", ">runs", "ordinary kernels"});
  for (size_t i = 0; i < clusters.size(); ++i) {
    const Cluster& cluster = clusters.at(i).cluster();
    const ClusterRuns runs = clusters.at(i).runs();
    table.Row({style.Bold(cluster.name), cluster.device->short_name(),
               absl::StrCat(cluster.nodes.size()), absl::StrCat(cluster.arguments.size()),
               absl::StrCat(cluster.constants.size()), absl::StrCat(cluster.results.size()),
               absl::StrCat(runs.programs), absl::StrCat(runs.runs),
               runs.reason.empty() ? "-" : OneLine(runs.reason)});
  }
  return table.Text(style);
}

}  // namespace tenon::cli
