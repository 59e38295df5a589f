// The forward sweep of shape functions over a graph.
#include "graph/nodes.h"
#include "graph/shape_inference.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

// Graphs up to this version could not say "unknown shape": their scalars may be anything.
constexpr int kLastProducerWithoutUnknownShapes = 21;

// Whether the node is sound enough to ask its shape function.
bool CanInfer(const Graph& graph, NodeId n) {
  return graph.op(n) != nullptr && graph.kind(n).types_status.ok() &&
         graph.kind(n).types.inputs.size() == static_cast<size_t>(graph.num_inputs(n));
}

}  // namespace

absl::StatusOr<GraphShapes> GraphShapes::Infer(const Graph& graph, const ShapeOptions& options) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph));
  GraphShapes shapes;
  const int32_t count = graph.num_node_ids();
  shapes.offsets_.resize(count + 1);
  uint32_t total = 0;
  for (NodeId n = 0; n < count; ++n) {
    shapes.offsets_[n] = total;
    if (graph.alive(n)) total += static_cast<uint32_t>(graph.num_outputs(n));
  }
  shapes.offsets_[count] = total;
  shapes.infos_.resize(total + 1);

  const TensorInfo& unknown = shapes.infos_.back();
  std::vector<const TensorInfo*> inputs;
  for (NodeId n : order) {
    if (!CanInfer(graph, n) || (options.skip != nullptr && options.skip->contains(n))) continue;
    inputs.clear();
    for (Output from : graph.data_inputs(n)) {
      inputs.push_back(from.node == kNoNode ? &unknown : &shapes.info(from));
    }
    InferenceContext context(*graph.op(n), graph.attrs(n), graph.kind(n).types, inputs);
    context.set_node(graph.name(n));
    if (options.assume_valid_feeds || !IsPlaceholder(graph, n)) {
      absl::Status status =
          RunShapeFn(context, options.errors == nullptr ? graph.name(n) : std::string_view());
      if (!status.ok() && options.errors == nullptr) return status;
      if (!status.ok()) {
        options.errors->emplace_back(n, std::move(status));
        continue;
      }
    }
    if (graph.op_name(n) == "Placeholder" && context.output(0).shape.rank() == 0 &&
        graph.producer() <= kLastProducerWithoutUnknownShapes) {
      context.set_output(0, PartialShape());
    }
    for (int i = 0; i < context.num_outputs(); ++i) {
      TensorInfo& info = shapes.infos_[shapes.offsets_[n] + i];
      info = std::move(context.output(i));
      if (options.feeds.empty()) continue;
      if (const auto fed = options.feeds.find(Output{n, i}); fed != options.feeds.end())
        info = fed->second;
    }
  }
  return shapes;
}

}  // namespace tenon
