// Arithmetic on shapes that are not known yet.
#include "grappler_lite/pass.h"
#include "grappler_lite/rewriter.h"

namespace tenon {
namespace {

// Prod(Shape(x)) is Size(x): of tensors of less than 2^31 elements in int32 too, and no others have
// a size there.
bool SizeForProduct(Sweep& sweep, NodeId n) {
  Graph& g = sweep.graph();
  if (g.op_name(n) != "Prod") return false;
  const Output shape = g.data_inputs(n)[0];
  if (g.op_name(shape.node) != "Shape" || sweep.fed(shape.node) ||
      !g.control_inputs(shape.node).empty() || g.device(shape.node) != g.device(n) ||
      !sweep.IsSplat(g.data_inputs(n)[1], 0))
    return false;
  const AttrValue* keep_dims = g.attr(n, "keep_dims");
  if (keep_dims != nullptr && keep_dims->AsBool().value_or(true)) return false;
  const Output measured = g.data_inputs(shape.node)[0];
  std::vector<Graph::NewAttr> attrs = {{"T", attr::Type(BaseType(g.output_type(measured)))},
                                       {"out_type", attr::Type(g.output_type({n, 0}))}};
  const AttrSet views({{"T", AttrValue(attrs[0].wire)}, {"out_type", AttrValue(attrs[1].wire)}});
  if (!sweep.context().kernels.HasKernel(g.device(n), "Size", views) || !sweep.Allow())
    return false;
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.SetKind(n, "Size", std::move(attrs));
  g.SetInputs(n, {{measured}}, controls);
  return true;
}

constexpr Rewrite kRewrites[] = {{"size_for_product", Exactness::kToleranced, SizeForProduct}};

class ShapeOptimization : public Pass {
 public:
  std::string_view name() const override { return "shape_optimization"; }
  std::vector<RewriteInfo> rewrites() const override { return InfosOf(kRewrites); }
  absl::StatusOr<bool> Run(PassContext& context) override {
    const Graph& g = context.graph;
    bool any = false;
    for (NodeId n = 0; n < g.num_node_ids() && !any; ++n)
      any = g.alive(n) && g.op_name(n) == "Prod";
    return any ? Sweep(context, nullptr).Run(kRewrites) : false;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeShapeOptimization() { return std::make_unique<ShapeOptimization>(); }

}  // namespace tenon
