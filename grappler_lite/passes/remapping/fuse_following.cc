// Merges the node that follows a contraction into it.
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {

bool FuseBias(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const std::optional<Fusable> into = FusableOutput(s, g.data_inputs(n)[0], n, {""});
  return into && SameFormat(g, n, into->contraction) &&
         Fuse(s, n, {*into, "BiasAdd", {g.data_inputs(n)[1]}});
}

bool FuseAddedBias(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  for (int i : {0, 1}) {
    const Output product = g.data_inputs(n)[i], other = g.data_inputs(n)[1 - i];
    const std::optional<Fusable> into = FusableOutput(s, product, n, {""});
    if (!into) continue;
    const bool last = IsNhwc(g, into->contraction);
    const int64_t channels = ChannelsOf(s, into->contraction);
    const std::optional<Tensor> value = s.ConstOf(other);
    if (!value && s.shape(other).rank() == 1 && IsChannelVector(s.shape(other), channels, last) &&
        Fuse(s, n, {*into, "BiasAdd", {other}}))
      return true;
    if (!value || !IsChannelVector(value->shape(), channels, last)) continue;
    // A vector of higher rank gives the sum more dimensions than the product has.
    if (value->shape().rank() > s.shape(product).rank()) continue;
    const absl::StatusOr<Output> bias = FlatConst(g, other, *value);
    if (!bias.ok()) continue;
    if (Fuse(s, n, {*into, "BiasAdd", {*bias}})) return true;
    if (*bias != other) g.RemoveNode(bias->node);
  }
  return false;
}

bool FuseResidual(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  for (int i : {0, 1}) {
    const NodeId contraction = ContractionInput(s, n, i, {"BiasAdd", "FusedBatchNorm"});
    if (contraction == kNoNode) continue;
    const Output other = g.data_inputs(n)[1 - i];
    if (!s.SameShape(g.data_inputs(n)[i], other)) continue;
    if (Fuse(s, n, {{contraction}, "Add", {other}})) return true;
  }
  return false;
}

bool FuseActivation(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::string_view op = g.op_name(n) == "_MklSwish"       ? "Swish"
                              : g.op_name(n) == "_MklFusedMish" ? "Mish"
                                                                : g.op_name(n);
  const Output x = g.data_inputs(n)[0];
  std::optional<Fusable> into = FusableOutput(s, x, n, {"BiasAdd", "FusedBatchNorm"});
  // TensorFlow's kernels know only Relu after a residual.
  if (!into && op == "Relu") into = FusableOutput(s, x, n, {"BiasAdd+Add", "FusedBatchNorm+Add"});
  if (!into) return false;
  Fusion fusion{*into, op};
  if (op == "LeakyRelu") {
    const absl::StatusOr<float> value = g.attr(n, "alpha")->AsFloat();
    if (!value.ok()) return false;
    fusion.leakyrelu_alpha = *value;
  }
  return Fuse(s, n, fusion);
}

}  // namespace tenon
