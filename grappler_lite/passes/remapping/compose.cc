// Elementwise functions that stand in a row.
#include <algorithm>
#include <vector>

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

constexpr std::string_view kComposition = "_UnaryOpsComposition";

bool IsComposable(const Graph& g, NodeId n) {
  const Composes composes = g.facts(n).composes;
  if (composes == Composes::kNo) return false;
  const DataType type = g.output_type({n, 0});
  return type == DataType::kFloat || type == DataType::kDouble ||
         (type == DataType::kHalf && composes == Composes::kInHalf);
}

// Whether n's one use takes it over.
bool IsTaken(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Fanouts::Use> uses = s.uses_of(n);
  return uses.size() == 1 && uses[0].port == 0 && s.OnlyUse({n, 0}) &&
         g.control_inputs(n).empty() && IsComposable(g, uses[0].node) &&
         g.device(uses[0].node) == g.device(n);
}

}  // namespace

bool ComposeUnary(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!s.context().target.is_tensorflow() || !IsComposable(g, n) || IsTaken(s, n)) return false;
  std::vector<std::string_view> ops = {g.op_name(n)};
  Output x = g.data_inputs(n)[0];
  while (IsComposable(g, x.node) && s.OnlyUse(x) && !s.fed(x.node) &&
         g.control_inputs(x.node).empty() && g.device(x.node) == g.device(n)) {
    ops.push_back(g.op_name(x.node));
    x = g.data_inputs(x.node)[0];
  }
  if (ops.size() < 2) return false;
  std::ranges::reverse(ops);
  Sweep::Attrs attrs = {{"T", attr::Type(g.output_type(x))}, {"op_names", attr::StringList(ops)}};
  if (!s.HasKernel(n, kComposition, attrs) || !s.Allow()) return false;
  s.Become(n, kComposition, {&x, 1}, std::move(attrs));
  return true;
}

namespace {

// The sum that output `o` is, for n alone and on its device, of terms that all have n's shape.
bool IsChainedSum(const Sweep& s, Output o, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, o.node, {"Add", "AddV2", "AddN"}) || !s.OnlyUse(o) || s.fed(o.node) ||
      !g.control_inputs(o.node).empty() || g.device(o.node) != g.device(n))
    return false;
  return std::ranges::all_of(g.data_inputs(o.node), [&](Output term) {
    return s.SameShape(term, {n, 0});
  });
}

}  // namespace

bool ChainAdditions(Sweep& s, NodeId n) {
  constexpr ptrdiff_t kMostTerms = 8;  // which TensorFlow adds one by one
  const Graph& g = s.graph();
  const DataType type = g.output_type({n, 0});
  // Halves may be rounded once only.
  if (!s.context().target.is_tensorflow() ||
      !(type == DataType::kFloat || type == DataType::kDouble || IsInteger(type)))
    return false;
  for (int i : {0, 1}) {
    const Output sum = g.data_inputs(n)[i], other = g.data_inputs(n)[1 - i];
    if (!IsChainedSum(s, sum, n) || !s.SameShape(other, {n, 0})) continue;
    std::vector<Output> terms(g.data_inputs(sum.node).begin(), g.data_inputs(sum.node).end());
    terms.push_back(other);
    Sweep::Attrs attrs = {{"N", attr::Int(std::ssize(terms))}, {"T", attr::Type(type)}};
    if (std::ssize(terms) > kMostTerms || !s.HasKernel(n, "AddN", attrs) || !s.Allow())
      return false;
    s.Become(n, "AddN", terms, std::move(attrs));
    return true;
  }
  return false;
}

}  // namespace tenon
