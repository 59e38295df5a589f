// Merges products of one tensor with several others into one node: it takes as long as the
// products, and one step of the plan does what several did.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/contraction.h"

namespace tenon {
namespace {

constexpr size_t kMost = 8;  // products in one node

// The last dimension of `a` times the first of `b`, or the last of a matrix that is transposed.
struct Projection {
  Output a, b;
  std::optional<Output> bias = std::nullopt;
  bool transpose_b = false;
};

// Whether an Einsum of these ranks is such a product: "abc,cde->abde".
bool IsProjection(std::string_view equation, int a_rank, int b_rank) {
  std::string terms(equation);
  std::erase(terms, ' ');
  const size_t comma = terms.find(','), arrow = terms.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) return false;
  const std::string a = terms.substr(0, comma), b = terms.substr(comma + 1, arrow - comma - 1),
                    out = terms.substr(arrow + 2);
  const std::string rows = a.substr(0, a.empty() ? 0 : a.size() - 1),
                    columns = b.substr(std::min<size_t>(b.size(), 1));
  if (a.empty() || b.empty() || a.back() != b.front() || out != rows + columns) return false;
  if (static_cast<int>(a.size()) != a_rank || static_cast<int>(b.size()) != b_rank) return false;
  const std::string all = rows + b;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!absl::ascii_isalpha(all[i]) || all.find(all[i], i + 1) != std::string::npos) return false;
  }
  return true;
}

bool IsMatMul(std::string_view op) { return op == "MatMul" || op == "_FusedMatMul"; }

// Whether an op of this name may be a product.
bool MayBeProduct(std::string_view op) {
  return IsMatMul(op) || op == "Einsum" || op == "BatchMatMulV2" || op == "BatchMatMulV3";
}

bool HasProducts(const Graph& g) {
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (g.alive(n) && MayBeProduct(g.op_name(n))) return true;
  }
  return false;
}

// The product that n is, if its ranks are known to be right.
std::optional<Projection> AsProjection(const GraphShapes& shapes, const Graph& g, NodeId n) {
  const std::string_view op = g.op_name(n);
  if (!MayBeProduct(op)) return std::nullopt;
  const bool matmul = IsMatMul(op), einsum = op == "Einsum";
  const std::span<const Output> in = g.data_inputs(n);
  if (in.size() < 2) return std::nullopt;
  const PartialShape &a = shapes.shape(in[0]), &b = shapes.shape(in[1]);
  if (!a.known_rank() || !b.known_rank()) return std::nullopt;
  if (einsum) {
    const absl::StatusOr<std::string_view> equation = g.attr(n, "equation")->AsString();
    if (in.size() != 2 || !equation.ok() || !IsProjection(*equation, a.rank(), b.rank()))
      return std::nullopt;
    return Projection{in[0], in[1]};
  }
  if (b.rank() != 2 || a.rank() < 2 || (matmul && a.rank() != 2)) return std::nullopt;
  if (BoolAttr(g, n, matmul ? "transpose_a" : "adj_x") ||
      g.input_type(n, 0) != g.input_type(n, 1) || g.input_type(n, 0) != g.output_type({n, 0}))
    return std::nullopt;
  Projection p = {in[0], in[1], std::nullopt, BoolAttr(g, n, matmul ? "transpose_b" : "adj_y")};
  const std::vector<std::string_view> fused = FusedOps(g, n);
  if (fused.size() > 1 || (fused.size() == 1 && (fused[0] != "BiasAdd" || in.size() != 3)))
    return std::nullopt;
  if (fused.size() == 1) p.bias = in[2];
  return p;
}

// Nodes without inputs wait for none of the products that they would be merged with.
bool IsSource(const Graph& g, Output o) { return g.inputs(o.node).empty(); }

// What the products of one node have in common.
using Common = std::tuple<Output, std::string_view, DataType, bool, bool, std::vector<Output>>;

struct Member {
  NodeId node;
  Projection projection;
};
using Group = std::vector<Member>;

// Products that may be merged, those of one group with equal Common, in topological order of
// their first.
std::vector<Group> FindGroups(const PassContext& context, const GraphShapes& shapes,
                              absl::Span<const NodeId> order) {
  const Graph& g = context.graph;
  std::vector<Group> groups;
  absl::flat_hash_map<Common, size_t> open;  // the group that takes more
  for (NodeId n : order) {
    const std::optional<Projection> p = AsProjection(shapes, g, n);
    if (!p || context.preserve.contains(n) || context.feeds.contains(n) || !IsSource(g, p->b) ||
        (p->bias && !IsSource(g, *p->bias)))
      continue;
    const std::span<const Output> controls = g.control_inputs(n);
    Common common(p->a, g.device(n), g.output_type({n, 0}), p->transpose_b, p->bias.has_value(),
                  {controls.begin(), controls.end()});
    const auto [found, added] = open.try_emplace(std::move(common), groups.size());
    if (added || groups[found->second].size() == kMost) {
      found->second = groups.size();
      groups.emplace_back();
    }
    groups[found->second].push_back({n, *p});
  }
  return groups;
}

void MoveUses(Graph& g, const Fanouts& fanouts, NodeId n, NodeId to, int port) {
  for (const Fanouts::Use& use : fanouts.of(n)) {
    if (g.alive(use.node))
      g.SetInput(use.node, use.input, {to, use.port == kControlPort ? kControlPort : port});
  }
}

bool Merge(PassContext& context, const Fanouts& fanouts, const Group& group) {
  Graph& g = context.graph;
  const int64_t products = static_cast<int64_t>(group.size());
  const NodeId first = group[0].node;
  const Projection& common = group[0].projection;
  const NewAttrs attrs = {
      {"T", attr::Type(g.output_type({first, 0}))},
      {"num_products", attr::Int(products)},
      {"num_biases", attr::Int(common.bias ? products : 0)},
      {"transpose_b", attr::Bool(common.transpose_b)},
  };
  if (products < 2 || !context.HasKernel(first, "_TenonProjections", attrs) ||
      !context.Allow(kMergeProjections.name, first))
    return false;
  // What `a` was when the group was found may have been merged since.
  std::vector<Output> inputs = {g.data_inputs(first)[0]};
  for (const Member& m : group) inputs.push_back(m.projection.b);
  for (const Member& m : group) {
    if (m.projection.bias) inputs.push_back(*m.projection.bias);
  }
  const std::vector<Output> controls(g.control_inputs(first).begin(),
                                     g.control_inputs(first).end());
  g.BecomeOp(first, "_TenonProjections", attrs);
  g.SetInputs(first, inputs, controls);
  for (int i = 1; i < static_cast<int>(group.size()); ++i) {
    MoveUses(g, fanouts, group[i].node, first, i);
    g.RemoveNode(group[i].node);
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> MergeProjections(PassContext& context) {
  if (context.target.is_tensorflow()) return false;
  const GraphShapes* const shapes = InferShapes(context);
  if (shapes == nullptr) return false;
  if (!HasProducts(context.graph)) return false;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(context.graph));
  const std::vector<Group> groups = FindGroups(context, *shapes, order);
  if (std::ranges::none_of(groups, [](const Group& group) { return group.size() > 1; }))
    return false;
  const Fanouts fanouts(context.graph);
  bool changed = false;
  for (const Group& group : groups) changed |= Merge(context, fanouts, group);
  return changed;
}

}  // namespace tenon
