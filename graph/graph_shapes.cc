// The forward sweep of shape functions over a graph.
#include <algorithm>

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

// Differs wherever data inputs do.
uint64_t MarkOf(std::span<const Output> inputs) {
  uint64_t mark = inputs.size();
  for (const Output& in : inputs) {
    mark ^= uint64_t{static_cast<uint32_t>(in.node)} << 32 | static_cast<uint32_t>(in.port);
    mark *= 0x9e3779b97f4a7c15;
    mark ^= mark >> 29;
  }
  return mark;
}

bool Same(const TensorInfo& a, const TensorInfo& b) {
  return a.shape == b.shape && a.value == b.value && a.partial_value == b.partial_value &&
         a.handle_shape == b.handle_shape;
}

}  // namespace

absl::StatusOr<GraphShapes> GraphShapes::Infer(const Graph& graph, const ShapeOptions& options) {
  GraphShapes shapes;
  TENON_RETURN_IF_ERROR(shapes.Refresh(graph, options));
  return shapes;
}

// Gives each live node as many infos as it has outputs. Whether any node is not as it was.
bool GraphShapes::UpdateRanges(const Graph& graph) {
  bool any = false;
  ranges_.resize(graph.num_node_ids());
  size_t total = std::max<size_t>(infos_.size(), 1);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    Range& range = ranges_[n];
    if (!graph.alive(n)) {
      range = Range();
      continue;
    }
    const uint64_t inputs = MarkOf(graph.data_inputs(n));
    if (range.kind == &graph.kind(n) && range.inputs == inputs) continue;
    any = true;
    const auto count = static_cast<uint32_t>(graph.num_outputs(n));
    if (range.count < count) {
      range.first = static_cast<uint32_t>(total);
      total += count;
    }
    range = {range.first, count, nullptr, inputs};  // to be inferred
  }
  infos_.resize(total);
  return any;
}

absl::Status GraphShapes::Refresh(const Graph& graph, const ShapeOptions& options) {
  if (!UpdateRanges(graph)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph));
  std::vector<bool> changed(graph.num_node_ids(), false);
  std::vector<const TensorInfo*> inputs;
  for (NodeId n : order) {
    bool stale = ranges_[n].kind == nullptr;
    for (const Output& in : graph.data_inputs(n)) stale |= in.node != kNoNode && changed[in.node];
    if (!stale) continue;
    bool is_changed = false;
    const absl::Status status = InferNode(graph, options, n, inputs, is_changed);
    changed[n] = is_changed;
    if (status.ok()) continue;
    *this = GraphShapes();
    return status;
  }
  return absl::OkStatus();
}

absl::Status GraphShapes::InferNode(const Graph& graph, const ShapeOptions& options, NodeId n,
                                    std::vector<const TensorInfo*>& inputs, bool& changed) {
  Range& range = ranges_[n];
  range.kind = &graph.kind(n);
  const auto store = [&](uint32_t i, TensorInfo info) {
    TensorInfo& stored = infos_[range.first + i];
    if (Same(stored, info)) return;
    changed = true;
    stored = std::move(info);
  };
  const auto forget = [&] {
    for (uint32_t i = 0; i < range.count; ++i) store(i, TensorInfo());
  };
  if (!CanInfer(graph, n) || (options.skip != nullptr && options.skip->contains(n))) {
    forget();
    return absl::OkStatus();
  }
  inputs.clear();
  for (const Output& from : graph.data_inputs(n))
    inputs.push_back(from.node == kNoNode ? infos_.data() : &info(from));
  InferenceContext context(*graph.op(n), graph.attrs(n), graph.kind(n).types, inputs);
  context.set_node(graph.name(n));
  if (options.assume_valid_feeds || !IsPlaceholder(graph, n)) {
    absl::Status status =
        RunShapeFn(context, options.errors == nullptr ? graph.name(n) : std::string_view());
    if (!status.ok() && options.errors == nullptr) return status;
    if (!status.ok()) {
      options.errors->emplace_back(n, std::move(status));
      forget();
      return absl::OkStatus();
    }
  }
  if (graph.op_name(n) == "Placeholder" && context.output(0).shape.rank() == 0 &&
      graph.producer() <= kLastProducerWithoutUnknownShapes) {
    context.set_output(0, PartialShape());
  }
  for (uint32_t i = 0; i < range.count; ++i) {
    const auto fed = options.feeds.empty() ? options.feeds.end()
                                           : options.feeds.find(Output{n, static_cast<int>(i)});
    store(i, fed != options.feeds.end() ? fed->second
                                        : std::move(context.output(static_cast<int>(i))));
  }
  return absl::OkStatus();
}

}  // namespace tenon
