#include "executor/clusters/cluster_check.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/stablehlo/lowerability.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/kept_buffers.h"

namespace tenon {
namespace {

// The same nodes, with every output that can leave a program as a result.
Cluster WithAllResults(const Cluster& cluster) {
  Cluster wide = cluster;
  wide.results.clear();
  const Graph& graph = *cluster.graph;
  for (const NodeId n : cluster.nodes) {
    if (graph.op_name(n) == "Const") continue;
    for (int32_t port = 0; port < graph.num_outputs(n); ++port) {
      if (stablehlo::CrossesBorder(graph.output_type({n, port}))) wide.results.push_back({n, port});
    }
  }
  return wide;
}

absl::StatusOr<std::vector<Tensor>> RunWide(const Cluster& wide,
                                            absl::Span<const stablehlo::Argument> inputs,
                                            absl::Span<const Tensor> values,
                                            const ClusterOptions& options) {
  WeightStore weights;
  TENON_ASSIGN_OR_RETURN(const ProgramTarget target, TargetOf(wide, options));
  TENON_ASSIGN_OR_RETURN(const stablehlo::Program lowered, LowerCluster(wide, inputs, options));
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const ClusterProgram> program,
                         CompileCluster(wide, lowered, target, weights));
  std::vector<Tensor> results;
  std::vector<void*> in, out;
  for (const Tensor& value : values) in.push_back(value.data());
  for (size_t i = 0; i < program->num_results; ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor result,
                           Tensor::Allocate(program->results[i].type, program->results[i].shape));
    out.push_back(result.data());
    results.push_back(std::move(result));
  }
  const stablehlo::Check* failed = nullptr;
  bool in_use = false;
  const absl::Status status = RunCompiled(*program, wide, in.data(), out.data(), &failed, &in_use);
  if (in_use) {
    for (const Tensor& result : results) KeepForEver(result.buffer());
    for (const Tensor& value : values) KeepForEver(value.buffer());
  }
  TENON_RETURN_IF_ERROR(status);
  return results;
}

std::optional<std::string> DifferenceAt(const Cluster& cluster, Output at, const Tensor& want,
                                        const Tensor& got, const ClusterOptions& options) {
  const std::optional<std::string> difference = options.judge(want, got);
  if (!difference) return std::nullopt;
  const Graph& graph = *cluster.graph;
  return absl::StrCat("'", graph.OutputName(at), "' (", graph.op_name(at.node), "): ", *difference);
}

}  // namespace

std::optional<std::string> FirstDifference(const Cluster& cluster, absl::Span<const Tensor> want,
                                           absl::Span<const Tensor> got,
                                           const ClusterOptions& options) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (auto text = DifferenceAt(cluster, cluster.results[i], want[i], got[i], options))
      return text;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<std::string>> FindWrongNode(
    const Cluster& cluster, absl::Span<const stablehlo::Argument> inputs,
    absl::Span<const Tensor> values, const ClusterOptions& options,
    const OrdinaryKernelsFactory& ordinary) {
  const Cluster wide = WithAllResults(cluster);
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> got, RunWide(wide, inputs, values, options));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<OrdinaryKernels> kernels, ordinary(wide));
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> want, kernels->Run(values));
  absl::flat_hash_set<Output> wrong;
  // Producers first: an output behind a wrong one is not the first fault.
  for (size_t i = 0; i < want.size(); ++i) {
    const Output at = wide.results[i];
    std::optional<std::string> text = DifferenceAt(wide, at, want[i], got[i], options);
    bool inputs_right = true;
    for (const Output& from : wide.graph->data_inputs(at.node))
      inputs_right &= !wrong.contains(from);
    if (text && inputs_right) return text;
    if (text || !inputs_right) wrong.insert(at);
  }
  return std::nullopt;
}

}  // namespace tenon
