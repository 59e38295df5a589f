// Recognizes attention: softmax(query * key^T * scale + mask) * value.
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/expression.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

struct Attention {
  Output query, key, value;
  std::optional<Output> mask;
  double scale = 1;
  bool heads_first = true;
};

bool IsBatchMatMul(const Graph& g, NodeId n) {
  return OpIs(g, n, {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"}) &&
         g.input_type(n, 0) == g.output_type({n, 0}) && g.input_type(n, 1) == g.output_type({n, 0});
}

constexpr std::array<int64_t, 4> kExchangeHeads = {0, 2, 1, 3}, kExchangeColumns = {0, 1, 3, 2};

// The labels of an Einsum of two operands of rank 4: "aecd,abcd->acbe" as {"aecd", "abcd", "acbe"}.
std::optional<std::array<std::string_view, 3>> EinsumLabels(const Graph& g, NodeId n) {
  const absl::StatusOr<std::string_view> equation = g.attr(n, "equation")->AsString();
  if (!equation.ok() || equation->size() != 15 || (*equation)[4] != ',' ||
      equation->substr(9, 2) != "->" || equation->find('.') != std::string_view::npos)
    return std::nullopt;
  return std::array<std::string_view, 3>{equation->substr(0, 4), equation->substr(5, 4),
                                         equation->substr(11, 4)};
}

class AttentionMatcher {
 public:
  AttentionMatcher(const Sweep& sweep, NodeId root)
      : s_(sweep), g_(sweep.graph()), e_(sweep, root) {}

  std::optional<Attention> Match(NodeId root) {
    const std::span<const Output> in = e_.OperandsOf({root, 0}, g_.op_name(root));
    if (in.size() != 2) return std::nullopt;
    for (int p : {0, 1}) {
      const std::optional<Output> scores = e_.ArgumentOf(in[p], "Softmax");
      if (!scores || !IsValueProduct(root, p)) continue;
      a_.value = in[1 - p];
      if (MatchMasked(*scores)) return a_;
    }
    return std::nullopt;
  }

 private:
  // Whether the root multiplies probabilities, operand p, by values; sets where heads are.
  bool IsValueProduct(NodeId root, int p) {
    if (IsBatchMatMul(g_, root))
      return p == 0 && !BoolAttr(g_, root, "adj_x") && !BoolAttr(g_, root, "adj_y");
    a_.heads_first = false;
    const auto labels = EinsumLabels(g_, root);
    if (!labels) return false;
    const std::string_view probability = (*labels)[p], value = (*labels)[1 - p], out = (*labels)[2];
    // b h q k, b k h c -> b q h c
    return value[0] == probability[0] && value[1] == probability[3] && value[2] == probability[1] &&
           out[0] == probability[0] && out[1] == probability[2] && out[2] == probability[1] &&
           out[3] == value[3];
  }

  bool MatchMasked(Output scores) {
    if (MatchScaled(scores)) return true;
    const std::span<const Output> in = e_.OperandsOf(scores, "AddV2");
    for (size_t i = 0; i < in.size(); ++i) {
      a_.mask = in[1 - i];
      if (MatchScaled(in[i])) return true;
    }
    return false;
  }

  bool MatchScaled(Output o) {
    a_.scale = 1;
    if (MatchProduct(o)) return true;
    const std::string_view op = g_.op_name(o.node);
    if (op != "Mul" && op != "RealDiv") return false;
    const Product p = e_.ProductAt(o);
    if (p.factors.size() != 1) return false;
    a_.scale = p.scale;
    return MatchProduct(p.factors[0]);
  }

  // query * key^T
  bool MatchProduct(Output o) {
    const std::span<const Output> in = e_.OperandsOf(o, g_.op_name(o.node));
    if (in.size() != 2) return false;
    a_.query = in[0];
    a_.key = in[1];
    if (a_.heads_first) {
      if (!IsBatchMatMul(g_, o.node) || BoolAttr(g_, o.node, "adj_x")) return false;
      if (BoolAttr(g_, o.node, "adj_y")) return true;
      const std::optional<Output> key = TransposeArgument(s_, in[1], kExchangeColumns);
      if (key) a_.key = *key;
      return key.has_value();
    }
    if (g_.op_name(o.node) != "Einsum") return false;
    const auto labels = EinsumLabels(g_, o.node);
    if (!labels) return false;
    // b q h c, b k h c -> b h q k
    const std::string_view out = (*labels)[2];
    for (int q : {0, 1}) {
      const std::string_view query = (*labels)[q], key = (*labels)[1 - q];
      if (query[0] != out[0] || query[1] != out[2] || query[2] != out[1] || key[0] != out[0] ||
          key[1] != out[3] || key[2] != out[1] || key[3] != query[3])
        continue;
      a_.query = in[q];
      a_.key = in[1 - q];
      return true;
    }
    return false;
  }

  const Sweep& s_;
  const Graph& g_;
  Expression e_;
  Attention a_;
};

bool Become(Sweep& s, NodeId n, const Attention& a) {
  Graph& g = s.graph();
  std::vector<Output> inputs = {a.query, a.key, a.value};
  if (a.mask) inputs.push_back(*a.mask);
  const NewAttrs attrs = {
      {"T", attr::Type(g.output_type({n, 0}))},
      {"num_masks", attr::Int(a.mask ? 1 : 0)},
      {"scale", attr::Float(static_cast<float>(a.scale))},
      {"heads_first", attr::Bool(a.heads_first)},
  };
  if (!s.HasKernel(n, "_TenonAttention", attrs) || !s.Allow()) return false;
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.BecomeOp(n, "_TenonAttention", attrs);
  g.SetInputs(n, inputs, controls);
  return true;
}

}  // namespace

bool RecognizeAttention(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (s.context().target.is_tensorflow() || (!IsBatchMatMul(g, n) && g.op_name(n) != "Einsum"))
    return false;
  const std::optional<Attention> a = AttentionMatcher(s, n).Match(n);
  if (!a) return false;
  for (const Output& o : {a->query, a->key, a->value}) {
    if (s.shape(o).rank() != 4) return false;
  }
  // A mask of higher rank would give the result more dimensions.
  if (a->mask && (!s.shape(*a->mask).known_rank() || s.shape(*a->mask).rank() > 4)) return false;
  return Become(s, n, *a);
}

// Right since the exchange is its own inverse: what has heads first by a Transpose of each operand,
// and heads behind rows again by a Transpose of the result, needs none of them. The mask is added
// to the scores, which have heads first either way.
bool ExchangeHeadsInAttention(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::optional<Output> attention = TransposeArgument(s, {n, 0}, kExchangeHeads);
  if (!attention || g.op_name(attention->node) != "_TenonAttention" || s.fed(attention->node) ||
      !BoolAttr(g, attention->node, "heads_first") || !OnlyFor(s, *attention, n) ||
      !g.control_inputs(attention->node).empty())
    return false;
  const std::span<const Output> in = g.data_inputs(attention->node);
  Attention a;
  Output* const tensors[] = {&a.query, &a.key, &a.value};
  for (int i = 0; i < 3; ++i) {
    const std::optional<Output> rows_first = TransposeArgument(s, in[i], kExchangeHeads);
    if (!rows_first || g.device(in[i].node) != g.device(n)) return false;
    *tensors[i] = *rows_first;
  }
  if (in.size() > 3) a.mask = in[3];
  a.scale = g.attr(attention->node, "scale")->AsFloat().value_or(1);
  a.heads_first = false;
  return Become(s, n, a);
}

}  // namespace tenon
