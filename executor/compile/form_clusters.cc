// The stage Clustered: groups of nodes on devices that compile become one node each.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "executor/clusters/cluster_op.h"
#include "executor/clusters/cluster_set.h"
#include "executor/clusters/extract_clusters.h"
#include "executor/clusters/find_clusters.h"
#include "executor/compile/stages.h"
#include "executor/place/kernel_store.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "graph/shapes/shape_inference.h"
#include "plugin/pjrt/pjrt_device.h"

namespace tenon {
namespace {

ClusterPolicy PolicyOf(const ClusterOptions& options) {
  ClusterPolicy policy = PolicyOfEnvironment();
  if (options.mode) {
    policy.mode = *options.mode;
    policy.cpu_global_jit = *options.mode != XlaMode::kOff;
  }
  if (options.leave_out != nullptr) policy.min_cluster_size = 1;
  return policy;
}

bool MayCompile(absl::Span<const NodePlacement> placement, const pjrt::ProgramDevice* host_compiler,
                const Graph& graph, const ClusterPolicy& policy) {
  for (NodeId n = 0; n < static_cast<NodeId>(placement.size()); ++n) {
    Device* const device = placement[n].device;
    if (device == nullptr) continue;
    if (device->compiles() || pjrt::AsProgramDevice(device) != nullptr) return true;
    if (device->is_host() && host_compiler != nullptr && graph.alive(n) && policy.Wants(graph, n))
      return true;
  }
  return false;
}

// A device whose programs serve nodes on the host: one that takes programs alone and is no
// accelerator, from which values would have to be fetched.
pjrt::ProgramDevice* HostCompilerOf(absl::Span<Device* const> devices) {
  for (Device* device : devices) {
    const pjrt::PjrtDevice* const pjrt = pjrt::AsPjrt(device);
    if (pjrt == nullptr) continue;
    const std::string& platform = pjrt->client().platform_name();
    const bool accelerator = platform == "cuda" || platform == "rocm" || platform == "tpu" ||
                             absl::StrContains(platform, "gpu");
    if (!accelerator) return pjrt::AsProgramDevice(device);
  }
  return nullptr;
}

// Whether the node's device, which has kernels, has one for it, or needs none.
bool HasKernel(const Graph& graph, NodeId n, const Device& device, KernelStore& kernels) {
  const OpFacts& facts = graph.facts(n);
  return facts.mover || facts.in_plan || IsFunctional(graph, n) ||
         kernels.Find(graph, n, device).ok();
}

// What is in no cluster runs on the host, unless its device has a kernel.
std::vector<NodePlacement> PlaceRestOnHost(std::vector<NodePlacement> placement, Device* host,
                                           KernelStore& kernels, Graph& graph) {
  placement.resize(graph.num_node_ids());
  const std::string name = host->full_name();
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    NodePlacement& p = placement[n];
    if (!graph.alive(n)) continue;
    const bool stays = p.device != nullptr && !p.device->compiles() &&
                       (!p.device->compiles_ops() || HasKernel(graph, n, *p.device, kernels));
    if (stays) continue;
    p.device = host;
    p.op = graph.op_name(n);
    p.requested.clear();
    graph.SetDevice(n, name);
  }
  return placement;
}

// Cluster::argument_shapes, as far as shape functions know them.
void AddShapes(const Optimized& optimized, absl::Span<Cluster> clusters) {
  std::vector<std::pair<NodeId, absl::Status>> errors;  // runs report them
  ShapeOptions options;
  options.errors = &errors;
  // A feed of any other node may have another shape than the node's.
  for (const Output& feed : optimized.request.feeds) {
    if (!feed.is_control() && optimized.graph->op_name(feed.node) != "Placeholder")
      options.feeds.emplace(feed, TensorInfo());
  }
  const absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(*optimized.graph, options);
  if (!shapes.ok()) return;
  for (Cluster& cluster : clusters) {
    for (const Output& argument : cluster.arguments)
      cluster.argument_shapes.push_back(shapes->shape(argument));
  }
}

}  // namespace

absl::StatusOr<Clustered> FormClusters(const Optimized& optimized, const CompileContext& context) {
  Clustered clustered{optimized, nullptr};
  const ClusterPolicy policy = PolicyOf(context.options.clusters);
  pjrt::ProgramDevice* const host_compiler = HostCompilerOf(context.devices);
  if (!MayCompile(*optimized.placement, host_compiler, *optimized.graph, policy)) return clustered;
  TENON_RETURN_IF_ERROR(RegisterClusterOp());
  TENON_ASSIGN_OR_RETURN(const RunSet run, FindRunSet(*optimized.graph, optimized.request));
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, OrderOf(*optimized.graph, run));
  std::vector<bool> runs(optimized.graph->num_node_ids());
  for (const NodeId n : order) runs[n] = run.Runs(n);
  FoundClusters found = FindClusters(
      {optimized.graph, *optimized.placement, order, runs, optimized.request.feeds,
       optimized.request.fetches, policy,
       [&](NodeId n) {
         return HasKernel(*optimized.graph, n, *(*optimized.placement)[n].device, context.kernels);
       },
       host_compiler,
       [&](NodeId n) {
         const auto& leave_out = context.options.clusters.leave_out;
         return leave_out != nullptr && leave_out(optimized.graph->name(n));
       }});
  if (BucketsOf(context.options.clusters).on()) AddShapes(optimized, absl::MakeSpan(found.clusters));
  clustered.clusters =
      std::make_shared<ClusterSet>(std::move(found), context.options.clusters, context.ordinary);
  auto graph = std::make_shared<Graph>(*optimized.graph);
  TENON_RETURN_IF_ERROR(
      clustered.clusters->Extract(context.host->full_name(), *graph, clustered.request.fetches));
  clustered.placement = std::make_shared<const std::vector<NodePlacement>>(
      PlaceRestOnHost(*optimized.placement, context.host, context.kernels, *graph));
  clustered.graph = std::move(graph);
  return clustered;
}

}  // namespace tenon
