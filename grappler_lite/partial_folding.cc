#include "grappler_lite/partial_folding.h"

#include <algorithm>
#include <vector>

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

// ConcatV2(x, c1, c2, y, axis): runs of constants are joined first.
bool JoinConstants(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  const Output axis = inputs.back();
  const auto end = inputs.end() - 1;
  const auto is_const = [&](const Output& o) { return IsFreeConst(s, o); };
  if (!is_const(axis) || std::all_of(inputs.begin(), end, is_const)) return false;
  const auto first = std::adjacent_find(inputs.begin(), end, [&](const Output& a, const Output& b) {
    return is_const(a) && is_const(b);
  });
  if (first == end) return false;
  const auto last = std::find_if_not(first, end, is_const);
  if (!s.Allow()) return false;
  std::vector<Output> run(first, last);
  run.push_back(axis);
  std::vector<Output> rest(inputs.begin(), first);
  rest.push_back(
      s.Add(n, "constants", "ConcatV2", run, AttrsForCount(g, n, run.size() - 1), PartialShape()));
  rest.insert(rest.end(), last, inputs.end());
  s.Become(n, "ConcatV2", rest, AttrsForCount(g, n, rest.size() - 1));
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

bool AddIntegers(Sweep& s, NodeId n) {
  return IsInteger(s.graph().output_type({n, 0})) && AddConstants(s, n);
}

// (x + c1) + c2: the constants are added first; products alike.
bool ChainConstants(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  for (int i : {0, 1}) {
    const Output inner = g.data_inputs(n)[i], outer_constant = g.data_inputs(n)[1 - i];
    if (!IsFreeConst(s, outer_constant) || &g.kind(inner.node) != &g.kind(n) || s.fed(inner.node) ||
        !s.OnlyUse(inner) || g.device(inner.node) != g.device(n) ||
        !g.control_inputs(inner.node).empty())
      continue;
    for (int j : {0, 1}) {
      const Output x = g.data_inputs(inner.node)[j];
      const Output inner_constant = g.data_inputs(inner.node)[1 - j];
      if (!IsFreeConst(s, inner_constant) || IsFreeConst(s, x)) continue;
      if (!s.Allow()) return false;
      const Output both[] = {inner_constant, outer_constant};
      const Output sum = s.Add(n, "constants", g.op_name(n), both, OpAttrs(g, n), PartialShape());
      s.SetInput(n, i, x);
      s.SetInput(n, 1 - i, sum);
      return true;
    }
  }
  return false;
}

bool ChainIntegers(Sweep& s, NodeId n) {
  return IsInteger(s.graph().output_type({n, 0})) && ChainConstants(s, n);
}

constexpr Rewrite kRewrites[] = {
    {"join_constants", Exactness::kExact, JoinConstants, "ConcatV2"},
    {"add_integers", Exactness::kExact, AddIntegers, "AddN"},
    {"add_constants", Exactness::kFastMath, AddConstants, "AddN"},
    {"chain_integers", Exactness::kExact, ChainIntegers, "Add AddV2 Mul"},
    {"chain_constants", Exactness::kFastMath, ChainConstants, "Add AddV2 Mul"},
};

}  // namespace

std::span<const Rewrite> PartialFolding() { return kRewrites; }

bool MayFoldPartially(const PassContext& context) {
  const Graph& g = context.graph;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    const std::string_view op = g.op_name(n);
    if (op == "ConcatV2") return true;
    if (op != "Add" && op != "AddV2" && op != "Mul" && op != "AddN") continue;
    if (context.fast_math || (g.op(n) != nullptr && IsInteger(g.output_type({n, 0})))) return true;
  }
  return false;
}

}  // namespace tenon
