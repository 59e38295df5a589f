#include "grappler_lite/passes/quantization/weighted_ops.h"

#include <string>

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {

std::optional<WeightedProduct> AsProduct(const Graph& g, NodeId n) {
  const std::string_view op = g.op_name(n);
  const int inputs = static_cast<int>(g.data_inputs(n).size());
  if (op == "MatMul" || op == "_FusedMatMul") {
    if (inputs < 2 || BoolAttr(g, n, "transpose_a")) return std::nullopt;
    return WeightedProduct{.transpose_b = BoolAttr(g, n, "transpose_b"),
                           .fuses = op == "_FusedMatMul"};
  }
  if (op == "BatchMatMulV2" || op == "BatchMatMulV3") {
    if (inputs != 2 || BoolAttr(g, n, "adj_x")) return std::nullopt;
    return WeightedProduct{.transpose_b = BoolAttr(g, n, "adj_y")};
  }
  if (op != "_TenonProjections") return std::nullopt;
  const int products = g.num_outputs(n);
  return WeightedProduct{.products = products,
                         .transpose_b = BoolAttr(g, n, "transpose_b"),
                         .first_arg = 1 + products,
                         .biased = inputs > 1 + products};
}

bool IsFloatProduct(const Graph& g, NodeId n) {
  const std::string_view op = g.op_name(n);
  return op != "_TenonCodedMatMul" && !op.starts_with("_TenonQuantized") && g.num_outputs(n) > 0 &&
         g.output_type({n, 0}) == DataType::kFloat &&
         (g.facts(n).precision == Precision::kAllow || g.facts(n).fuses == Fuses::kContraction ||
          AsProduct(g, n));
}

void CopyFusedOps(const Graph& g, NodeId n, NewAttrs& attrs) {
  for (const std::string_view name : {"fused_ops", "epsilon", "leakyrelu_alpha"}) {
    if (const AttrValue* value = g.attr(n, name); value != nullptr)
      attrs.emplace_back(name, std::string(value->wire()));
  }
}

}  // namespace tenon
