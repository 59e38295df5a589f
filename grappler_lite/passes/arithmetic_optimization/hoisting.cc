// Unary ops of single elements, done once on a list instead of on each of its pieces.
#include <vector>

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// The first of n's pieces, if all of them are made by the same unary op for n alone; else kNoNode.
NodeId SameUnaryOf(const Sweep& s, NodeId n, int pieces) {
  const Graph& g = s.graph();
  const NodeId first = g.data_inputs(n)[0].node;
  if (pieces < 2 || !IsUnaryCwise(g.facts(first)) || MayBeFused(g, first)) return kNoNode;
  for (int i = 0; i < pieces; ++i) {
    const NodeId f = OwnProducer(s, n, i, {g.op_name(first)});
    if (f == kNoNode || !SameAttrs(g, f, first) || MayBeFused(g, f)) return kNoNode;
  }
  return first;
}

// Concat(f(x), f(y)) is f(Concat(x, y)); Pack likewise: f computes each element by itself, so that
// one kernel does the work of several. Not where remapping would fuse an f into the contraction
// before it, where it costs nothing.
bool HoistOutOfConcat(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const int pieces = g.num_inputs(n) - (g.op_name(n) == "ConcatV2");
  const NodeId f = SameUnaryOf(s, n, pieces);
  if (f == kNoNode) return false;
  Sweep::Attrs list_attrs = OpAttrs(g, n);
  PutAttr(list_attrs, "T", attr::Type(g.input_type(f, 0)));
  const std::string_view list = g.op_name(n), op = g.op_name(f);
  if (!s.HasKernel(n, list, list_attrs) || !s.Allow()) return false;
  std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  for (int i = 0; i < pieces; ++i) inputs[i] = g.data_inputs(inputs[i].node)[0];
  Sweep::Attrs attrs = OpAttrs(g, f);
  const Output all = s.Add(n, "all", list, inputs, std::move(list_attrs), s.shape({n, 0}));
  s.Become(n, op, {&all, 1}, std::move(attrs));
  return true;
}

// The nodes that read n's outputs, one each, if all are the same unary op on n's device; else none.
std::vector<NodeId> SameUnaryBehind(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  std::vector<NodeId> users(g.num_outputs(n), kNoNode);
  if (users.size() < 2 || s.context().preserve.contains(n)) return {};
  for (const Fanouts::Use& use : s.uses_of(n)) {
    if (use.port < 0 || users[use.port] != kNoNode || !IsUnaryCwise(g.facts(use.node)) ||
        !s.MayReplace(use.node, {n, use.port}))
      return {};
    users[use.port] = use.node;
  }
  for (NodeId user : users) {
    if (user == kNoNode || g.op_name(user) != g.op_name(users[0]) || g.op_name(user) == "Cast" ||
        g.input_type(user, 0) != TypeOf(g, user) || !SameAttrs(g, user, users[0]))
      return {};
  }
  return users;
}

// f of each output of a split is the split of f(x). What the split gives changes: only the users
// that go see it.
bool HoistOutOfSplit(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const int from = g.op_name(n) == "Split" ? 1 : 0;
  const std::vector<NodeId> users = SameUnaryBehind(s, n);
  if (users.empty() || !s.Allow()) return false;
  const Output x = g.data_inputs(n)[from];
  s.SetInput(n, from,
             s.Add(n, "all", g.op_name(users[0]), {&x, 1}, OpAttrs(g, users[0]), s.shape(x)));
  for (size_t i = 0; i < users.size(); ++i) s.Bypass(users[i], {n, static_cast<int32_t>(i)});
  return true;
}

constexpr Rewrite kHoistingRewrites[] = {
    {"hoist_unary_out_of_concat", Exactness::kExact, HoistOutOfConcat, "ConcatV2 Pack"},
    {"hoist_unary_out_of_split", Exactness::kExact, HoistOutOfSplit, "Split SplitV Unpack"},
};

}  // namespace

std::span<const Rewrite> Hoisting() { return kHoistingRewrites; }

}  // namespace tenon::arithmetic
