#include "grappler_lite/passes/quantization/weighted_ops.h"

#include "absl/strings/str_cat.h"
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
  return WeightedProduct{.projects = true,
                         .products = products,
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

std::string WhyNotShape(const WeightedProduct& p, const Shape& weights, int64_t min_weights,
                        int64_t most_terms) {
  if (weights.rank() < 2 || (weights.rank() > 2 && !p.projects)) return "its weights are no matrix";
  return WhyNotSizes(weights.num_elements(), weights.dim(p.transpose_b ? 1 : 0), min_weights,
                     most_terms);
}

std::string WhyNotSizes(int64_t weights, int64_t terms, int64_t min_weights, int64_t most_terms) {
  if (weights < min_weights) return absl::StrCat("its weights are only ", weights);
  if (terms > most_terms)
    return absl::StrCat("sums of ", terms, " products of bytes may not fit 32 bits");
  return "";
}

NewAttrs ProductAttrs(const Graph& g, NodeId n, const WeightedProduct& p) {
  NewAttrs attrs = {{"T", attr::Type(DataType::kFloat)},
                    {"transpose_b", attr::Bool(p.transpose_b)}};
  int64_t args = 0;
  if (p.fuses) {
    args = static_cast<int64_t>(g.data_inputs(n).size()) - p.first_arg;
    CopyAttrs(g, n, {"fused_ops", "epsilon", "leakyrelu_alpha"}, attrs);
  } else if (p.biased) {
    args = 1;
    attrs.emplace_back("fused_ops", attr::StringList({"BiasAdd"}));
  }
  attrs.emplace_back("num_args", attr::Int(args));
  return attrs;
}

void CopyAttrs(const Graph& g, NodeId n, std::initializer_list<std::string_view> names,
               NewAttrs& attrs) {
  for (const std::string_view name : names) {
    if (const AttrValue* value = g.attr(n, name); value != nullptr)
      attrs.emplace_back(name, std::string(value->wire()));
  }
}

}  // namespace tenon
