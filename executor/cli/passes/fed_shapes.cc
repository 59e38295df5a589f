#include "executor/cli/passes/fed_shapes.h"

namespace tenon::cli {

GraphShapes ShapesWithFeeds(const Graph& graph, const FedShapes& fed) {
  std::vector<std::pair<NodeId, absl::Status>> errors;
  ShapeOptions options;
  options.errors = &errors;
  for (const auto& [name, shape] : fed) {
    const absl::StatusOr<Output> output = graph.ParseOutput(name);
    if (!output.ok() || output->is_control()) continue;
    TensorInfo info;
    info.shape = shape;
    options.feeds[*output] = std::move(info);
  }
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph, options);
  return shapes.ok() ? *std::move(shapes) : GraphShapes();
}

}  // namespace tenon::cli
