// Rewrites that bring constants of one expression together in a node of their own, which constant
// folding then computes.

#include "grappler_lite/passes/constant_folding/partial_folding.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

bool IsFreeConst(const Sweep& s, Output o) {
  return s.graph().op_name(o.node) == "Const" && s.IsFree(o) && !s.fed(o.node);
}

// n's attributes for a list of this many.
NewAttrs AttrsForCount(const Graph& g, NodeId n, size_t count) {
  NewAttrs attrs = OpAttrs(g, n);
  PutAttr(attrs, "N", attr::Int(static_cast<int64_t>(count)));
  return attrs;
}

// ConcatV2(x, c1, c2, y, axis), or Concat(axis, x, c1, c2, y): runs of constants are joined first.
bool JoinConstants(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::string_view op = g.op_name(n);
  const bool axis_first = op == "Concat";
  std::vector<Output> pieces(g.data_inputs(n).begin(), g.data_inputs(n).end());
  const auto axis_at = axis_first ? pieces.begin() : pieces.end() - 1;
  const Output axis = *axis_at;
  pieces.erase(axis_at);
  const auto end = pieces.end();
  const auto is_const = [&](const Output& o) { return IsFreeConst(s, o); };
  if (!is_const(axis) || std::all_of(pieces.begin(), end, is_const)) return false;
  const auto both_const = [&](const Output& a, const Output& b) {
    return is_const(a) && is_const(b);
  };
  const auto with_axis = [&](std::vector<Output> list) {
    list.insert(axis_first ? list.begin() : list.end(), axis);
    return list;
  };
  // All runs at once: each rewrite copies the list.
  auto first = std::adjacent_find(pieces.begin(), end, both_const);
  if (first == end || !s.Allow()) return false;
  std::vector<Output> rest;
  for (auto from = pieces.begin(); from != end;) {
    rest.insert(rest.end(), from, first);
    const auto last = std::find_if_not(first, end, is_const);
    if (first != end) {
      rest.push_back(s.Add(n, "constants", op, with_axis({first, last}),
                           AttrsForCount(g, n, last - first), PartialShape()));
    }
    from = last;
    first = std::adjacent_find(from, end, both_const);
  }
  s.Become(n, op, with_axis(rest), AttrsForCount(g, n, rest.size()));
  return true;
}

// AddN(x, c1, y, c2): the constants are added first.
bool AddConstants(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  std::vector<Output> constants, rest;
  for (const Output& in : g.data_inputs(n)) (IsFreeConst(s, in) ? constants : rest).push_back(in);
  if (constants.size() < 2 || rest.empty() || !s.Allow()) return false;
  rest.push_back(s.Add(n, "constants", "AddN", constants, AttrsForCount(g, n, constants.size()),
                       s.shape({n, 0})));
  s.Become(n, "AddN", rest, AttrsForCount(g, n, rest.size()));
  return true;
}

// Integers wrap, so that sums and products may be taken in any order; floating numbers round, and
// have the rewrites below for kFastMath.
bool AddIntegers(Sweep& s, NodeId n) {
  return IsInteger(s.graph().output_type({n, 0})) && AddConstants(s, n);
}

// An op on a constant and a value that is made of another constant and x for it alone.
struct ConstantChain {
  Output x, inner_constant, outer_constant;
  NodeId inner;
  int at, x_at;  // which operand of n the inner op is, and of that x
};
std::optional<ConstantChain> FindChain(const Sweep& s, NodeId n,
                                       std::initializer_list<std::string_view> inner_ops) {
  const Graph& g = s.graph();
  for (int i : {0, 1}) {
    const Output inner = g.data_inputs(n)[i], outer_constant = g.data_inputs(n)[1 - i];
    if (!IsFreeConst(s, outer_constant) || !OpIs(g, inner.node, inner_ops) || s.fed(inner.node) ||
        !s.OnlyUse(inner) || g.device(inner.node) != g.device(n) ||
        !g.control_inputs(inner.node).empty())
      continue;
    for (int j : {0, 1}) {
      const Output x = g.data_inputs(inner.node)[j];
      const Output inner_constant = g.data_inputs(inner.node)[1 - j];
      if (IsFreeConst(s, inner_constant) && !IsFreeConst(s, x))
        return ConstantChain{x, inner_constant, outer_constant, inner.node, i, j};
    }
  }
  return std::nullopt;
}

// (x * c1) * c2: the constants are multiplied first.
bool ChainFactors(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::optional<ConstantChain> chain = FindChain(s, n, {"Mul"});
  if (!chain || !s.Allow()) return false;
  const Output both[] = {chain->inner_constant, chain->outer_constant};
  const Output product = s.Add(n, "constants", "Mul", both, OpAttrs(g, n), PartialShape());
  s.SetInput(n, chain->at, chain->x);
  s.SetInput(n, 1 - chain->at, product);
  return true;
}

// (x + c1) + c2, c1 - (x - c2) and so on: x, or -x, and one constant.
bool ChainSummands(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::optional<ConstantChain> chain = FindChain(s, n, {"Add", "AddV2", "Sub"});
  if (!chain) return false;
  const bool outer_subtracts = g.op_name(n) == "Sub";
  const bool inner_subtracts = g.op_name(chain->inner) == "Sub";
  const bool inner_is_negative = outer_subtracts && chain->at == 1;
  // Signs of x and of the constants in the sum.
  const bool minus_x = inner_is_negative != (inner_subtracts && chain->x_at == 1);
  const bool minus_inner = inner_is_negative != (inner_subtracts && chain->x_at == 0);
  const bool minus_outer = outer_subtracts && chain->at == 0;
  const bool subtracts = minus_x || (minus_inner && minus_outer);
  const NewAttrs attrs = OpAttrs(g, n);
  const std::string_view sum = subtracts ? "Sub" : "AddV2";
  const std::string_view of_constants = minus_inner == minus_outer ? "AddV2" : "Sub";
  if (!s.HasKernel(n, sum, attrs) || !s.HasKernel(n, of_constants, attrs) || !s.Allow())
    return false;
  const bool inner_first = !minus_inner || minus_outer;
  const Output constants[] = {inner_first ? chain->inner_constant : chain->outer_constant,
                              inner_first ? chain->outer_constant : chain->inner_constant};
  const Output constant = s.Add(n, "constants", of_constants, constants, attrs, PartialShape());
  const Output operands[] = {minus_x ? constant : chain->x, minus_x ? chain->x : constant};
  s.Become(n, sum, operands, attrs);
  return true;
}

bool ChainConstants(Sweep& s, NodeId n) {
  if (s.graph().output_type({n, 0}) == DataType::kString) return false;  // their order counts
  return s.graph().op_name(n) == "Mul" ? ChainFactors(s, n) : ChainSummands(s, n);
}

bool ChainIntegers(Sweep& s, NodeId n) {
  return IsInteger(s.graph().output_type({n, 0})) && ChainConstants(s, n);
}

constexpr Rewrite kPartialFoldings[] = {
    {"join_constants", Exactness::kExact, JoinConstants, "Concat ConcatV2"},
    {"add_integers", Exactness::kExact, AddIntegers, "AddN"},
    {"add_constants", Exactness::kFastMath, AddConstants, "AddN"},
    {"chain_integers", Exactness::kExact, ChainIntegers, "Add AddV2 Sub Mul"},
    {"chain_constants", Exactness::kFastMath, ChainConstants, "Add AddV2 Sub Mul"},
};

}  // namespace

std::span<const Rewrite> PartialFolding() { return kPartialFoldings; }

bool MayFoldPartially(const PassContext& context) {
  const Graph& g = context.graph;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    const std::string_view op = g.op_name(n);
    if (op == "ConcatV2" || op == "Concat") return true;
    if (!OpIs(g, n, {"Add", "AddV2", "Sub", "Mul", "AddN"})) continue;
    if (context.fast_math || (g.op(n) != nullptr && IsInteger(g.output_type({n, 0})))) return true;
  }
  return false;
}

}  // namespace tenon
