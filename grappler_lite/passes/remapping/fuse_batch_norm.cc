// Relu behind a normalization, with or without a summand between, becomes _FusedBatchNormEx.

#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

// A FusedBatchNorm whose normalized values n alone uses.
bool IsBatchNormFor(const Sweep& s, Output norm, NodeId n) {
  return OpIs(s.graph(), norm.node, {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) &&
         !s.fed(norm.node) && OnlyFor(s, norm, n);
}

// TensorFlow's kernel takes channels by four, which are last.
bool SuitsTensorFlow(const Sweep& s, Output norm) {
  const Graph& g = s.graph();
  const int64_t channels = s.shape(g.data_inputs(norm.node)[1]).dim(0);
  return IsNhwc(g, norm.node) && channels > 0 && channels % 4 == 0;
}

// The attributes of the fused node, if there is a kernel for it on n's device.
std::optional<NewAttrs> FusedAttrs(const Sweep& s, NodeId n, Output norm,
                                   std::optional<Output> side) {
  const Graph& g = s.graph();
  if (s.context().target.is_tensorflow() && !SuitsTensorFlow(s, norm)) return std::nullopt;
  NewAttrs attrs =
      AttrsOf(g, norm.node, {"epsilon", "exponential_avg_factor", "data_format", "is_training"});
  attrs.push_back({"T", attr::Type(g.output_type(norm))});
  attrs.push_back({"U", attr::Type(g.output_type({norm.node, 1}))});
  attrs.push_back({"num_side_inputs", attr::Int(side ? 1 : 0)});
  attrs.push_back({"activation_mode", attr::String("Relu")});
  if (!s.HasKernel(n, "_FusedBatchNormEx", attrs)) return std::nullopt;
  return attrs;
}

bool TakeOver(Sweep& s, NodeId n, Output norm, std::optional<Output> side) {
  Graph& g = s.graph();
  std::optional<NewAttrs> attrs = FusedAttrs(s, n, norm, side);
  if (!attrs || !s.Allow()) return false;
  std::vector<Output> inputs(g.data_inputs(norm.node).begin(), g.data_inputs(norm.node).end());
  if (side) inputs.push_back(*side);
  const std::vector<Output> controls = MergedControls(g, norm.node, n);
  g.BecomeOp(n, "_FusedBatchNormEx", *std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

// In training others use the statistics, perhaps before n: the normalization takes n's work over.
bool HandOver(Sweep& s, NodeId n, Output norm) {
  if (!s.MayReplace(n, norm)) return false;
  std::optional<NewAttrs> attrs = FusedAttrs(s, norm.node, norm, std::nullopt);
  if (!attrs || !s.Allow()) return false;
  s.graph().BecomeOp(norm.node, "_FusedBatchNormEx", *std::move(attrs));
  s.Bypass(n, norm);
  return true;
}

}  // namespace

bool FuseBatchNormRelu(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const Output x = g.data_inputs(n)[0];
  if (IsBatchNormFor(s, x, n)) {
    return OnlyFirstOutputUsed(s, x.node) ? TakeOver(s, n, x, std::nullopt) : HandOver(s, n, x);
  }
  if (!OpIs(g, x.node, {"AddV2", "Add"}) || s.fed(x.node) || !OnlyFor(s, x, n) ||
      !g.control_inputs(x.node).empty())
    return false;
  for (int i : {0, 1}) {
    const Output norm = g.data_inputs(x.node)[i], side = g.data_inputs(x.node)[1 - i];
    const std::optional<Shape> shape = s.shape(norm).ToShape();
    if (IsBatchNormFor(s, norm, x.node) && OnlyFirstOutputUsed(s, norm.node) && shape &&
        s.shape(side).ToShape() == shape)
      return TakeOver(s, n, norm, side);
  }
  return false;
}

}  // namespace tenon
