// Mul and Add behind a batched product become _MklFusedBatchMatMulV2, as in attention: scores are
// scaled and masked. For TensorFlow only.

#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

constexpr std::string_view kFused = "_MklFusedBatchMatMulV2";

// Whether `o` is made for n alone, so that n may do what makes it.
bool IsTaken(const Sweep& s, Output o, NodeId n) { return OnlyFor(s, o, n) && !s.fed(o.node); }

// Whether `o` is one number that gives what it scales no further dimensions.
bool IsNumber(const Sweep& s, Output o) {
  const PartialShape& shape = s.shape(o);
  return shape.fully_defined() && shape.rank() <= 4 &&
         std::ranges::all_of(shape.dims(), [](int64_t d) { return d == 1; });
}

// Whether the matrices have columns to multiply: TensorFlow's kernel adds nothing to an empty sum.
bool MultipliesSomething(const Sweep& s, NodeId product) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(product);
  const int64_t columns = s.shape(in[0]).dim(BoolAttr(g, product, "adj_x") ? -2 : -1);
  const int64_t rows = s.shape(in[1]).dim(BoolAttr(g, product, "adj_y") ? -1 : -2);
  return columns > 0 || rows > 0;
}

// Whether the addend is a mask that all heads share, [batch, 1, rows, columns], and broadcasts to
// the product as it is: TensorFlow's kernel takes one of other rank or size without a look at it.
bool IsMask(const Sweep& s, Output addend, Output product) {
  const PartialShape& mask = s.shape(addend);
  if (mask.rank() != 4 || s.shape(product).rank() != 4 || mask.dim(1) != 1) return false;
  for (int i : {0, 2, 3}) {
    if (mask.dim(i) != 1 && !s.SameDim(addend, i, product, i)) return false;
  }
  return true;
}

}  // namespace

bool FuseBatchMatMul(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (!s.context().target.is_tensorflow()) return false;
  for (int i : {0, 1}) {
    const Output scaled = g.data_inputs(n)[i], addend = g.data_inputs(n)[1 - i];
    if (!OpIs(g, scaled.node, {"Mul"}) || !IsTaken(s, scaled, n)) continue;
    for (int j : {0, 1}) {
      const Output product = g.data_inputs(scaled.node)[j];
      const Output factor = g.data_inputs(scaled.node)[1 - j];
      if (!OpIs(g, product.node, {"BatchMatMulV2"}) || !IsTaken(s, product, scaled.node) ||
          !IsNumber(s, factor) || !IsMask(s, addend, product) ||
          !MultipliesSomething(s, product.node))
        continue;
      NewAttrs attrs = AttrsOf(g, product.node, {"T", "adj_x", "adj_y"});
      attrs.push_back({"fused_ops", attr::StringList({"Mul", "Add"})});
      attrs.push_back({"num_args", attr::Int(2)});
      if (!s.HasKernel(n, kFused, attrs) || !s.Allow()) return false;
      const Output inputs[] = {g.data_inputs(product.node)[0], g.data_inputs(product.node)[1],
                               factor, addend};
      const std::vector<Output> controls = MergedControls(g, product.node, scaled.node);
      s.Become(n, kFused, inputs, std::move(attrs));
      for (const Output& c : controls) g.AddControlInput(n, c.node);
      return true;
    }
  }
  return false;
}

}  // namespace tenon
