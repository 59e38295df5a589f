#include "executor/cli/graphs/flops.h"

#include <algorithm>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

namespace tenon::cli {
namespace {

// Ops that move or describe data: no arithmetic.
bool IsFree(std::string_view op) {
  static const auto& ops = *new absl::flat_hash_set<std::string_view>{
      "Const",          "Placeholder",    "PlaceholderV2", "PlaceholderWithDefault",
      "Identity",       "IdentityN",      "NoOp",          "Reshape",
      "Shape",          "ShapeN",         "Size",          "Rank",
      "Transpose",      "ConcatV2",       "Concat",        "Pack",
      "Unpack",         "Split",          "SplitV",        "Slice",
      "StridedSlice",   "Squeeze",        "ExpandDims",    "Gather",
      "GatherV2",       "GatherNd",       "Pad",           "PadV2",
      "MirrorPad",      "Tile",           "Fill",          "ZerosLike",
      "OnesLike",       "Range",          "Cast",          "StopGradient",
      "Switch",         "Merge",          "Enter",         "Exit",
      "NextIteration",  "LoopCond",       "VarHandleOp",   "ReadVariableOp",
      "OneHot",         "BroadcastTo",    "Reverse",       "ReverseV2",
      "SpaceToBatchND", "BatchToSpaceND", "DepthToSpace",  "SpaceToDepth",
      "Bitcast",        "Where"};
  return ops.contains(op);
}

class Estimator {
 public:
  Estimator(const Graph& graph, const GraphShapes& shapes) : graph_(graph), shapes_(shapes) {}

  void Add(NodeId n) {
    const std::string_view op = graph_.op_name(n);
    if (IsFree(op) || graph_.num_outputs(n) == 0) return;
    const bool batch = absl::StrContains(op, "BatchMatMul");
    if (batch || op == "MatMul" || op == "_FusedMatMul") {
      Product(n, batch);
    } else if (op == "Conv2D" || op == "_FusedConv2D" || op == "Conv3D") {
      Convolution(n, 1, 0);
    } else if (op == "DepthwiseConv2dNative") {
      Depthwise(n);
    } else if (op == "Conv2DBackpropInput") {
      Convolution(n, 1, 2);
    } else if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || op == "Prod" ||
               op == "Softmax" || op == "MaxPool" || op == "AvgPool") {
      Simple(Input(n, 0));
    } else {
      Simple(shapes_.shape({n, 0}));
    }
  }

  const FlopEstimate& estimate() const { return estimate_; }

 private:
  const PartialShape& Input(NodeId n, int i) { return shapes_.shape(graph_.data_inputs(n)[i]); }

  // The size, 1 where it is unknown.
  double Dim(const PartialShape& shape, int i) {
    const int64_t dim = shape.dim(i);
    if (dim != kUnknownDim) return static_cast<double>(dim);
    estimate_.assumed = true;
    return 1;
  }

  double Elements(const PartialShape& shape) {
    double product = 1;
    for (int i = 0; i < shape.rank(); ++i) product *= Dim(shape, i);
    return product;
  }

  void Simple(const PartialShape& shape) {
    if (shape.known_rank()) {
      estimate_.flops += Elements(shape);
    } else {
      ++estimate_.unknown_nodes;
    }
  }

  bool FlagOf(NodeId n, std::string_view name) {
    const AttrValue* value = graph_.attr(n, name);
    return value != nullptr && value->AsBool().value_or(false);
  }

  void Product(NodeId n, bool batch) {
    const PartialShape& a = Input(n, 0);
    const PartialShape& out = shapes_.shape({n, 0});
    if (a.rank() < 2 || !out.known_rank()) {
      ++estimate_.unknown_nodes;
      return;
    }
    const bool transposed = FlagOf(n, batch ? "adj_x" : "transpose_a");
    estimate_.flops += 2 * Elements(out) * Dim(a, transposed ? -2 : -1);
  }

  // Each output element (for a gradient: each element of the incoming one) takes a window of the
  // filter over all input channels.
  void Convolution(NodeId n, int filter_input, int data_input) {
    const PartialShape& filter = Input(n, filter_input);
    const bool gradient = data_input != 0;
    const PartialShape& data = gradient ? Input(n, data_input) : shapes_.shape({n, 0});
    if (filter.rank() < 3 || !data.known_rank()) {
      ++estimate_.unknown_nodes;
      return;
    }
    const double window = Elements(filter) / std::max(1.0, Dim(filter, -1));
    estimate_.flops += 2 * Elements(data) * window;
  }

  void Depthwise(NodeId n) {
    const PartialShape& filter = Input(n, 1);
    const PartialShape& out = shapes_.shape({n, 0});
    if (filter.rank() != 4 || !out.known_rank()) {
      ++estimate_.unknown_nodes;
      return;
    }
    estimate_.flops += 2 * Elements(out) * Dim(filter, 0) * Dim(filter, 1);
  }

  const Graph& graph_;
  const GraphShapes& shapes_;
  FlopEstimate estimate_;
};

}  // namespace

FlopEstimate EstimateFlops(const Graph& graph, const GraphShapes& shapes) {
  Estimator estimator(graph, shapes);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) estimator.Add(n);
  }
  return estimator.estimate();
}

}  // namespace tenon::cli
