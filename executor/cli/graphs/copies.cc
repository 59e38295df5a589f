#include "executor/cli/graphs/copies.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "executor/cli/plugins/host.h"
#include "executor/compile/passes/evaluator.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kHostName = "/device:CPU:0";

class CopyFinder {
 public:
  CopyFinder(const Graph& graph, const std::vector<NodePlacement>& placement)
      : graph_(graph), placement_(placement) {
    // Only for the sizes: copies are found without them.
    absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph);
    if (shapes.ok()) shapes_ = *std::move(shapes);
    memory_.resize(graph.num_node_ids());
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (graph.alive(n) && OnPlugin(n)) {
        memory_[n] = MemoryTypesOn(*placement[n].device, graph, n, KernelRegistry::Global());
      }
    }
  }

  std::vector<std::vector<EdgeCopy>> Run() {
    std::vector<std::vector<EdgeCopy>> copies(graph_.num_node_ids());
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (!graph_.alive(n)) continue;
      for (int i = 0; i < graph_.num_inputs(n); ++i) {
        const Output from = graph_.data_inputs(n)[i];
        if (from.node == kNoNode) continue;
        const std::string source = DeviceOfOutput(from), target = DeviceOfInput(n, i);
        if (source == target || !seen_.emplace(from, target).second) continue;
        copies[n].push_back({source, target, graph_.OutputName(from), BytesOf(from)});
      }
    }
    return copies;
  }

 private:
  bool OnPlugin(NodeId n) const {
    return placement_[n].device != nullptr && !placement_[n].device->is_host();
  }

  std::string DeviceOfOutput(Output o) const {
    const auto& host = memory_[o.node].output_on_host;
    const bool on_host =
        !OnPlugin(o.node) || (static_cast<size_t>(o.port) < host.size() && host[o.port]);
    return on_host ? std::string(kHostName) : ShortName(placement_[o.node].device);
  }

  std::string DeviceOfInput(NodeId n, int i) const {
    const auto& host = memory_[n].input_on_host;
    const bool on_host = !OnPlugin(n) || (static_cast<size_t>(i) < host.size() && host[i]);
    return on_host ? std::string(kHostName) : ShortName(placement_[n].device);
  }

  int64_t BytesOf(Output o) const {
    const int64_t elements = shapes_ ? shapes_->shape(o).num_elements() : kUnknownDim;
    const auto element = static_cast<int64_t>(DataTypeSize(graph_.output_type(o)));
    int64_t bytes = 0;
    const bool known = elements >= 0 && !__builtin_mul_overflow(elements, element, &bytes);
    return known ? bytes : -1;
  }

  const Graph& graph_;
  const std::vector<NodePlacement>& placement_;
  std::optional<GraphShapes> shapes_;
  std::vector<MemoryTypes> memory_;
  // Tensors and the devices to which they were copied.
  absl::flat_hash_set<std::pair<Output, std::string>> seen_;
};

}  // namespace

std::vector<std::vector<EdgeCopy>> CopiesInto(const Graph& graph,
                                              const std::vector<NodePlacement>& placement) {
  return CopyFinder(graph, placement).Run();
}

}  // namespace tenon::cli
