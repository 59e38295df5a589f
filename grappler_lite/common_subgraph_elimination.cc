// Merges nodes that compute the same: one forward sweep of hash-consing.
#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "grappler_lite/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kMerge = {"merge", Exactness::kExact};

// Constants above this size are not compared: reading weights costs more than it can save.
constexpr size_t kMaxComparedAttrBytes = 1024;

// Ops whose effect is their place in the graph, or that answer anew each time.
bool HasIdentityOfItsOwn(const Graph& g, NodeId n) {
  const OpDef* op = g.op(n);
  if (op == nullptr || op->is_stateful) return true;
  // Whoever reads a variable reads what it holds at that time.
  for (const Output& in : g.data_inputs(n)) {
    if (IsRef(g.output_type(in))) return true;
  }
  const std::string_view name = op->name;
  return name == "Placeholder" || name == "PlaceholderWithDefault" || IsEnterOp(name) ||
         IsExitOp(name) || IsNextIterationOp(name) || name == "_Arg" || name == "_Retval";
}

bool SameAttrs(const AttrSet& a, const AttrSet& b) {
  if (a.all().size() != b.all().size()) return false;
  for (size_t i = 0; i < a.all().size(); ++i) {
    const Attr& x = a.all()[i];
    const Attr& y = b.all()[i];
    if (x.name != y.name || x.value.wire().size() > kMaxComparedAttrBytes ||
        x.value.wire() != y.value.wire())
      return false;
  }
  return true;
}

class CommonSubgraphElimination : public Pass {
 public:
  std::string_view name() const override { return "common_subgraph_elimination"; }
  std::vector<RewriteInfo> rewrites() const override { return {kMerge}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g));
    std::vector<NodeId> same_as(g.num_node_ids(), kNoNode);
    absl::flat_hash_map<size_t, std::vector<NodeId>> seen;
    std::vector<NodeId> merged;
    for (NodeId n : order) {
      ForwardInputs(g, n, same_as);
      if (HasIdentityOfItsOwn(g, n) || context.feeds.contains(n)) continue;
      std::vector<NodeId>& candidates = seen[Hash(g, n)];
      const auto twin = std::find_if(candidates.begin(), candidates.end(),
                                     [&](NodeId m) { return Same(g, n, m); });
      if (twin == candidates.end()) {
        candidates.push_back(n);
      } else if (context.preserve.contains(n)) {
        // It must stay; those that follow may still be merged with the first of them.
      } else if (context.Allow(kMerge.name, n)) {
        same_as[n] = *twin;
        merged.push_back(n);
      }
    }
    if (merged.empty()) return false;
    // Back edges of loops were not forwarded by the sweep.
    for (NodeId n : order) ForwardInputs(g, n, same_as);
    for (NodeId n : merged) g.RemoveNode(n);
    return true;
  }

 private:
  static void ForwardInputs(Graph& g, NodeId n, const std::vector<NodeId>& same_as) {
    for (int i = 0; i < static_cast<int>(g.inputs(n).size()); ++i) {
      const Output in = g.inputs(n)[i];
      if (same_as[in.node] != kNoNode) g.SetInput(n, i, {same_as[in.node], in.port});
    }
  }

  // Data inputs in their order, or sorted where the op does not care; control inputs always sorted.
  static std::vector<Output> CanonicalInputs(const Graph& g, NodeId n) {
    std::vector<Output> inputs(g.inputs(n).begin(), g.inputs(n).end());
    const auto less = [](const Output& a, const Output& b) {
      return std::pair(a.node, a.port) < std::pair(b.node, b.port);
    };
    const auto control = inputs.begin() + g.num_inputs(n);
    if (g.op(n)->is_commutative) std::sort(inputs.begin(), control, less);
    std::sort(control, inputs.end(), less);
    return inputs;
  }

  static size_t Hash(const Graph& g, NodeId n) {
    size_t hash = absl::HashOf(g.op_name(n), g.device(n));
    for (const Attr& a : g.attrs(n).all()) {
      hash = absl::HashOf(hash, a.name, a.value.wire().substr(0, kMaxComparedAttrBytes));
    }
    for (const Output& in : CanonicalInputs(g, n)) hash = absl::HashOf(hash, in);
    return hash;
  }

  static bool Same(const Graph& g, NodeId a, NodeId b) {
    if (g.op(a) != g.op(b) || g.device(a) != g.device(b)) return false;
    if (&g.kind(a) != &g.kind(b) && !SameAttrs(g.attrs(a), g.attrs(b))) return false;
    return CanonicalInputs(g, a) == CanonicalInputs(g, b);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCommonSubgraphElimination() {
  return std::make_unique<CommonSubgraphElimination>();
}

}  // namespace tenon
