// Products of floats with constant weights in 8 or 4 bits: _TenonCodedMatMul in the place of
// MatMul, BatchMatMul and their fused forms. The constants stay floats in the graph; the kernel
// makes the codes once, when a plan is made.
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

constexpr std::string_view kCoded = "_TenonCodedMatMul";
constexpr RewriteInfo kCodeWeights = {"code_weights", Exactness::kLowPrecision};
// Fewer weights are not worth their error.
constexpr PassOption kMinWeights = {"min_weights", 1024,
                                    "weights of which a product needs so many"};
// More terms of products of bytes might not fit 32 bits.
constexpr int64_t kMostByteTerms = 65536;

// What a node multiplies: input 0 by each of `products` inputs from 1 on.
struct WeightedProduct {
  int products = 1;
  bool transpose_b = false;
  bool fuses = false;  // has the attributes of _FusedMatMul
  int first_arg = 2;   // of what is fused, or of a bias for each product
  bool biased = false;
};

class CodeWeights : public Pass {
 public:
  // `code` is a value of the op's attribute.
  explicit CodeWeights(std::string_view code) : code_(code) {}

  std::vector<RewriteInfo> rewrites() const override { return {kCodeWeights}; }
  std::vector<PassOption> options() const override { return {kMinWeights}; }

  absl::StatusOr<bool> Run(PassContext& c) override {
    Graph& g = c.graph;
    // Users come after what they read, so that they are replaced with their new inputs.
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g));
    std::vector<NodeId> found;
    for (NodeId n : order) {
      if (const std::string why = WhyNot(c, n); why.empty()) {
        found.push_back(n);
      } else if (IsFloatProduct(g, n)) {
        c.Note(n, why);
      }
    }
    if (found.empty()) return false;
    if (c.target.is_tensorflow()) {
      return absl::FailedPreconditionError(
          absl::StrCat("TensorFlow has no products with coded weights: what is written for the "
                       "target ",
                       c.target.name(), " stays float; tenon is the target for it"));
    }
    bool changed = false;
    const Fanouts fanouts(g);
    for (NodeId n : found) {
      if (!c.Allow(kCodeWeights.name, n)) continue;
      TENON_RETURN_IF_ERROR(Replace(g, fanouts, n));
      changed = true;
    }
    return changed;
  }

 private:
  static bool IsFloatProduct(const Graph& g, NodeId n) {
    return g.op_name(n) != kCoded && g.num_outputs(n) > 0 &&
           g.output_type({n, 0}) == DataType::kFloat &&
           (g.facts(n).precision == Precision::kAllow || g.facts(n).fuses == Fuses::kContraction ||
            AsProduct(g, n));
  }

  // The product that n is, if it is one of a form that the op takes.
  static std::optional<WeightedProduct> AsProduct(const Graph& g, NodeId n) {
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

  // Why n is left as it is; empty if it is a product whose weights become codes.
  std::string WhyNot(const PassContext& c, NodeId n) {
    const Graph& g = c.graph;
    const std::string_view op = g.op_name(n);
    const std::optional<WeightedProduct> p = AsProduct(g, n);
    if (!p) return absl::StrCat(op, " of this form has no product with coded weights");
    if (g.output_type({n, 0}) != DataType::kFloat) return "it is no product of floats";
    if (c.feeds.contains(n)) return "it is fed";
    if (p->products > 1 && c.preserve.contains(n)) return "it is fetched or marked to stay";
    for (int i = 1; i <= p->products; ++i) {
      const Output weights = g.data_inputs(n)[i];
      if (g.op_name(weights.node) != "Const" || c.feeds.contains(weights.node) ||
          !g.control_inputs(weights.node).empty())
        return "its weights are no constant";
      if (std::string why = WhyNotWeights(c, op, *p, weights.node); !why.empty()) return why;
    }
    if (!c.HasKernel(n, kCoded, AttrsOf(g, n, *p)))
      return absl::StrCat("its device has no kernel for ", kCoded);
    return "";
  }

  std::string WhyNotWeights(const PassContext& c, std::string_view op, const WeightedProduct& p,
                            NodeId weights) {
    const absl::StatusOr<Tensor> value = c.graph.ConstValue(weights);
    if (!value.ok()) return "its weights cannot be read";
    const Shape& shape = value->shape();
    if (shape.rank() < 2 || (shape.rank() > 2 && op != "_TenonProjections"))
      return "its weights are no matrix";
    if (shape.num_elements() < c.Argument(kMinWeights))
      return absl::StrCat("its weights are only ", shape.num_elements());
    const int64_t terms = shape.dim(p.transpose_b ? 1 : 0);
    if (code_ == "int8_dynamic" && terms > kMostByteTerms)
      return absl::StrCat("sums of ", terms, " products of bytes may not fit 32 bits");
    const auto [known, is_new] = finite_.try_emplace(weights, true);
    if (is_new) known->second = IsFinite(*value);
    return known->second ? "" : "its weights hold a NaN or an infinity";
  }

  static bool IsFinite(const Tensor& t) {
    const char* const values = static_cast<const char*>(t.data());  // at any alignment
    bool finite = true;
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      float x;
      std::memcpy(&x, values + i * sizeof(x), sizeof(x));
      finite &= std::isfinite(x);
    }
    return finite;
  }

  NewAttrs AttrsOf(const Graph& g, NodeId n, const WeightedProduct& p) const {
    int args = 0;
    NewAttrs attrs = {{"T", attr::Type(DataType::kFloat)},
                      {"code", attr::String(code_)},
                      {"transpose_b", attr::Bool(p.transpose_b)}};
    if (p.fuses) {
      args = static_cast<int>(g.data_inputs(n).size()) - p.first_arg;
      for (const std::string_view name : {"fused_ops", "epsilon", "leakyrelu_alpha"}) {
        if (const AttrValue* value = g.attr(n, name); value != nullptr)
          attrs.emplace_back(name, std::string(value->wire()));
      }
    } else if (p.biased) {
      args = 1;
      attrs.emplace_back("fused_ops", attr::StringList({"BiasAdd"}));
    }
    attrs.emplace_back("num_args", attr::Int(args));
    return attrs;
  }

  absl::Status Replace(Graph& g, const Fanouts& fanouts, NodeId n) const {
    const WeightedProduct p = *AsProduct(g, n);
    if (p.products == 1 && g.op_name(n) != "_TenonProjections") {
      g.BecomeOp(n, kCoded, AttrsOf(g, n, p));
      return absl::OkStatus();
    }
    const std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
    const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
    std::vector<NodeId> made;
    for (int i = 0; i < p.products; ++i) {
      std::vector<Output> own = {inputs[0], inputs[1 + i]};
      if (p.biased) own.push_back(inputs[p.first_arg + i]);
      own.insert(own.end(), controls.begin(), controls.end());
      TENON_ASSIGN_OR_RETURN(made.emplace_back(),
                             g.AddNode(g.UniqueName(absl::StrCat(g.name(n), "/product", i)), kCoded,
                                       own, AttrsOf(g, n, p), g.device(n), g.pos(n)));
    }
    for (const Fanouts::Use& use : fanouts.of(n)) {
      if (!g.alive(use.node)) continue;
      const bool control = use.port == kControlPort;
      g.SetInput(use.node, use.input,
                 control ? Output{made[0], kControlPort} : Output{made[use.port], 0});
    }
    g.RemoveNode(n);
    return absl::OkStatus();
  }

  const std::string_view code_;
  absl::flat_hash_map<NodeId, bool> finite_;  // of constants
};

}  // namespace

std::unique_ptr<Pass> MakeDynamicInt8() { return std::make_unique<CodeWeights>("int8_dynamic"); }
std::unique_ptr<Pass> MakeInt8Weights() { return std::make_unique<CodeWeights>("int8"); }
std::unique_ptr<Pass> MakeInt4Weights() { return std::make_unique<CodeWeights>("int4"); }

}  // namespace tenon
