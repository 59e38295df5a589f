// Merges what follows a batch of products into it: TensorFlow has a name for that, but no op.
#include "grappler_lite/remapping/rewrites.h"

namespace tenon {
namespace {

// Turns n into the products with one more op fused.
bool Become(Sweep& s, NodeId n, NodeId products, std::string_view fused_op, Output arg) {
  Graph& g = s.graph();
  std::vector<std::string_view> fused = FusedOps(g, products);
  fused.push_back(fused_op);
  std::vector<Output> inputs(g.data_inputs(products).begin(), g.data_inputs(products).end());
  inputs.push_back(arg);
  std::vector<Graph::NewAttr> attrs = {{"num_args", attr::Int(static_cast<int64_t>(fused.size()))},
                                       {"fused_ops", attr::StringList(fused)}};
  for (std::string_view name : {"T", "adj_x", "adj_y"}) {
    if (const AttrValue* value = g.attr(products, name))
      attrs.push_back({name, std::string(value->wire())});
  }
  if (g.output_type(arg) != g.output_type({products, 0}) ||
      !HasKernel(s.context(), n, "_FusedBatchMatMulV2", attrs) || !s.Allow())
    return false;
  const std::vector<Output> controls = MergedControls(g, products, n);
  g.SetKind(n, "_FusedBatchMatMulV2", std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

bool IsProducts(const Sweep& s, Output o, NodeId n, bool fused) {
  const Graph& g = s.graph();
  const std::string_view op = g.op_name(o.node);
  return (op == "BatchMatMul" || op == "BatchMatMulV2" ||
          (fused && op == "_FusedBatchMatMulV2" && FusedOps(g, o.node).back() == "Mul")) &&
         !s.fed(o.node) && OnlyFor(s, o, n);
}

// Whether adding `summand` leaves a tensor of shape `to` that shape.
bool BroadcastsTo(const PartialShape& summand, const PartialShape& to) {
  if (!summand.known_rank() || !to.known_rank() || summand.rank() > to.rank()) return false;
  for (int i = 1; i <= summand.rank(); ++i) {
    const int64_t d = summand.dim(-i);
    if (d != 1 && (d < 0 || d != to.dim(-i))) return false;
  }
  return true;
}

}  // namespace

bool FuseScaleOfProducts(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (s.context().target != Target::kTenon || g.op_name(n) != "Mul") return false;
  for (int i : {0, 1}) {
    const Output products = g.data_inputs(n)[i], scale = g.data_inputs(n)[1 - i];
    const PartialShape shape = s.shape(scale);
    if (IsProducts(s, products, n, false) && shape.known_rank() && shape.rank() == 0 &&
        Become(s, n, products.node, "Mul", scale))
      return true;
  }
  return false;
}

bool FuseSummandOfProducts(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (s.context().target != Target::kTenon || (g.op_name(n) != "AddV2" && g.op_name(n) != "Add"))
    return false;
  for (int i : {0, 1}) {
    const Output products = g.data_inputs(n)[i], summand = g.data_inputs(n)[1 - i];
    if (IsProducts(s, products, n, true) && BroadcastsTo(s.shape(summand), s.shape(products)) &&
        Become(s, n, products.node, "Add", summand))
      return true;
  }
  return false;
}

}  // namespace tenon
