// Arithmetic on shapes that are not known yet.
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

// Prod(Shape(x)) is Size(x): of tensors of less than 2^31 elements in int32 too, and no others have
// a size there.
bool SizeForProduct(Sweep& sweep, NodeId n) {
  Graph& g = sweep.graph();
  const Output shape = g.data_inputs(n)[0];
  if (g.op_name(shape.node) != "Shape" || sweep.fed(shape.node) ||
      !g.control_inputs(shape.node).empty() || g.device(shape.node) != g.device(n) ||
      !sweep.IsSplat(g.data_inputs(n)[1], 0) || BoolAttr(g, n, "keep_dims"))
    return false;
  const Output measured = g.data_inputs(shape.node)[0];
  NewAttrs attrs = {{"T", attr::Type(BaseType(g.output_type(measured)))},
                    {"out_type", attr::Type(g.output_type({n, 0}))}};
  if (!sweep.HasKernel(n, "Size", attrs) || !sweep.Allow()) return false;
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.BecomeOp(n, "Size", std::move(attrs));
  g.SetInputs(n, {{measured}}, controls);
  return true;
}

constexpr Rewrite kShapeRewrites[] = {
    {"size_for_product", Exactness::kToleranced, SizeForProduct, "Prod"}};

class ShapeOptimization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return InfosOf(kShapeRewrites); }
  absl::StatusOr<bool> Run(PassContext& context) override {
    const Graph& g = context.graph;
    bool any = false;
    for (NodeId n = 0; n < g.num_node_ids() && !any; ++n)
      any = g.alive(n) && g.op_name(n) == "Prod";
    return any ? Sweep(context, nullptr).Run(kShapeRewrites) : false;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeShapeOptimization() { return std::make_unique<ShapeOptimization>(); }

}  // namespace tenon
