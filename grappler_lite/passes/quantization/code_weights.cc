// Products of floats with constant weights in 8 or 4 bits: _TenonCodedMatMul in the place of
// MatMul, BatchMatMul and their fused forms. The constants stay floats in the graph; the kernel
// makes the codes once, when a plan is made. Rows that are gathered of a table are coded as well:
// _TenonCodedGather. With 8 bits on both sides convolutions change too: this pass itself turns
// their weights into bytes (quantized_ops.h).
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/byte_sums.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/quantization/quantized_ops.h"
#include "grappler_lite/passes/quantization/weighted_ops.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

constexpr std::string_view kCoded = "_TenonCodedMatMul", kCodedGather = "_TenonCodedGather";
constexpr RewriteInfo kCodeWeights = {"code_weights", Exactness::kLowPrecision};
constexpr std::string_view kDynamicCode = "int8_dynamic";
constexpr std::string_view kDynamicConvolutions = "Conv2D _FusedConv2D";

bool QuantizeConvolution(Sweep& s, NodeId n) {
  if (!IsFloatProduct(s.graph(), n)) return false;
  return Applied(s, n, QuantizeConv(s, n, std::nullopt, s.context().Argument(kMinWeights)));
}
constexpr Rewrite kQuantizeConvolutions[] = {
    {"quantize_convolution", Exactness::kLowPrecision, QuantizeConvolution, kDynamicConvolutions}};

class CodeWeights : public Pass {
 public:
  // `code` is a value of the op's attribute.
  explicit CodeWeights(std::string_view code) : code_(code) {}

  std::vector<RewriteInfo> rewrites() const override {
    std::vector<RewriteInfo> infos = {kCodeWeights};
    if (code_ == kDynamicCode) infos.push_back(InfosOf(kQuantizeConvolutions)[0]);
    return infos;
  }
  std::vector<PassOption> options() const override { return {kMinWeights}; }

  absl::StatusOr<bool> Run(PassContext& c) override {
    Graph& g = c.graph;
    // Users come after what they read, so that they are replaced with their new inputs.
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g));
    std::vector<NodeId> found;
    bool convolves = false;
    for (NodeId n : order) {
      if (code_ == kDynamicCode && ListsOp(kDynamicConvolutions, g.op_name(n))) {
        convolves = true;
      } else if (const std::string why = WhyNot(c, n); why.empty()) {
        found.push_back(n);
      } else if (IsFloatProduct(g, n) || IsGather(g, n)) {
        c.Note(n, why);
      }
    }
    if (found.empty() && !convolves) return false;
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
    if (!convolves) return changed;
    TENON_ASSIGN_OR_RETURN(const bool convolutions,
                           Sweep(c, InferShapes(c)).Run(kQuantizeConvolutions));
    return changed || convolutions;
  }

 private:
  // Of the ops whose tables may become codes.
  bool IsGather(const Graph& g, NodeId n) const {
    return code_ != kDynamicCode && OpIs(g, n, {"Gather", "GatherV2"}) &&
           g.output_type({n, 0}) == DataType::kFloat;
  }

  std::string WhyNotGather(const PassContext& c, NodeId n) {
    const Graph& g = c.graph;
    const std::span<const Output> in = g.data_inputs(n);
    if (c.feeds.contains(n)) return "it is fed";
    if (!IsPlainConst(c, in[0].node)) return "its table is no constant";
    if (in.size() > 2) {
      const absl::StatusOr<Tensor> axis =
          IsPlainConst(c, in[2].node) ? g.ConstValue(in[2].node) : absl::NotFoundError("");
      if (!axis.ok() || axis->num_elements() != 1 || axis->IntAt(0) != 0 ||
          IntAttr(g, n, "batch_dims") != 0)
        return "it gathers no rows";
    }
    if (std::string why = WhyNotWeights(c, {}, in[0].node); !why.empty()) return why;
    if (!c.HasKernel(n, kCodedGather, GatherAttrs(g, n)))
      return absl::StrCat("its device has no kernel for ", kCodedGather);
    return "";
  }

  NewAttrs GatherAttrs(const Graph& g, NodeId n) const {
    return {{"T", attr::Type(DataType::kFloat)},
            {"Tindices", attr::Type(g.output_type(g.data_inputs(n)[1]))},
            {"code", attr::String(code_)}};
  }

  static bool IsPlainConst(const PassContext& c, NodeId n) {
    return c.graph.op_name(n) == "Const" && !c.feeds.contains(n) &&
           c.graph.control_inputs(n).empty();
  }

  // Why n is left as it is; empty if it is a product or a lookup whose weights become codes.
  std::string WhyNot(const PassContext& c, NodeId n) {
    const Graph& g = c.graph;
    if (IsGather(g, n)) return WhyNotGather(c, n);
    const std::optional<WeightedProduct> p = AsProduct(g, n);
    if (!p) return absl::StrCat(g.op_name(n), " of this form has no product with coded weights");
    if (g.output_type({n, 0}) != DataType::kFloat) return "it is no product of floats";
    if (c.feeds.contains(n)) return "it is fed";
    if (p->projects && c.preserve.contains(n)) return "it is fetched or marked to stay";
    for (int i = 1; i <= p->products; ++i) {
      const Output weights = g.data_inputs(n)[i];
      if (!IsPlainConst(c, weights.node)) return "its weights are no constant";
      if (std::string why = WhyNotWeights(c, *p, weights.node); !why.empty()) return why;
    }
    if (!c.HasKernel(n, kCoded, AttrsOf(g, n, *p)))
      return absl::StrCat("its device has no kernel for ", kCoded);
    return "";
  }

  std::string WhyNotWeights(const PassContext& c, const WeightedProduct& p, NodeId weights) {
    const absl::StatusOr<Tensor> value = c.graph.ConstValue(weights);
    if (!value.ok()) return "its weights cannot be read";
    const int64_t most_terms =
        code_ == kDynamicCode ? kMostCodedTerms : std::numeric_limits<int64_t>::max();
    if (std::string why = WhyNotShape(p, value->shape(), c.Argument(kMinWeights), most_terms);
        !why.empty())
      return why;
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
    NewAttrs attrs = ProductAttrs(g, n, p);
    attrs.emplace_back("code", attr::String(code_));
    return attrs;
  }

  absl::Status Replace(Graph& g, const Fanouts& fanouts, NodeId n) const {
    if (IsGather(g, n)) {
      const Output inputs[] = {g.data_inputs(n)[1], g.data_inputs(n)[0]};
      const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
      g.BecomeOp(n, kCodedGather, GatherAttrs(g, n));
      g.SetInputs(n, inputs, controls);
      return absl::OkStatus();
    }
    const WeightedProduct p = *AsProduct(g, n);
    if (!p.projects) {
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

std::unique_ptr<Pass> MakeDynamicInt8() { return std::make_unique<CodeWeights>(kDynamicCode); }
std::unique_ptr<Pass> MakeInt8Weights() { return std::make_unique<CodeWeights>("int8"); }
std::unique_ptr<Pass> MakeInt4Weights() { return std::make_unique<CodeWeights>("int4"); }

}  // namespace tenon
