// Removes what no fetch needs, nodes that only pass their input on, and functions that nothing
// calls.
#include <algorithm>
#include <vector>

#include "graph/functions/function_library.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kBypassIdentity = {"bypass_identity", Exactness::kExact};
constexpr RewriteInfo kRemoveUnreachable = {"remove_unreachable", Exactness::kExact};
constexpr RewriteInfo kRemoveFunctions = {"remove_functions", Exactness::kExact};

class ModelPruning : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    return {kBypassIdentity, kRemoveUnreachable, kRemoveFunctions};
  }

  absl::StatusOr<bool> Run(PassContext& context) override {
    bool changed = BypassIdentities(context);
    changed |= RemoveUnreachable(context);
    changed |= RemoveUnreachableFunctions(context.graph,
                                          [&] { return context.Allow(kRemoveFunctions.name); });
    return changed;
  }

 private:
  // Nodes that others wait for.
  static std::vector<bool> Awaited(const Graph& g) {
    std::vector<bool> awaited(g.num_node_ids(), false);
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n)) continue;
      for (const Output& in : g.control_inputs(n)) awaited[in.node] = true;
    }
    return awaited;
  }

  // An identity goes when it waits for nothing, and its producer is on the same device (else it is
  // the place of a copy). The output of a Switch keeps it: dead values may be waited for there. So
  // does that of a call if somebody waits.
  static bool CanBypass(const PassContext& c, NodeId n, bool awaited) {
    const Graph& g = c.graph;
    if (!g.facts(n).identity || c.preserve.contains(n)) return false;
    if (g.num_inputs(n) != 1 || !g.control_inputs(n).empty()) return false;
    const NodeId producer = g.data_inputs(n)[0].node;
    // An identity of a variable is the time at which it is read.
    if (IsRef(g.output_type(g.data_inputs(n)[0]))) return false;
    return g.device(producer) == g.device(n) && !IsSwitch(g.facts(producer)) &&
           !(awaited && IsAwaitedByValueOnly(g, producer));
  }

  static bool BypassIdentities(PassContext& c) {
    Graph& g = c.graph;
    std::vector<bool> bypassed(g.num_node_ids(), false);
    const std::vector<bool> awaited = Awaited(g);
    bool changed = false;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (g.alive(n) && CanBypass(c, n, awaited[n]) && c.Allow(kBypassIdentity.name, n))
        changed = bypassed[n] = true;
    }
    if (!changed) return false;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n)) continue;
      for (int i = 0; i < static_cast<int>(g.inputs(n).size()); ++i) {
        const Output from = g.inputs(n)[i];
        Output source = from;
        // A ring of identities leads back to n.
        while (source.node != n && bypassed[source.node]) source = Through(g, source);
        if (source != from) g.SetInput(n, i, source);
      }
    }
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (bypassed[n]) g.RemoveNode(n);
    }
    return true;
  }

  // What a use of a bypassed node uses instead.
  static Output Through(const Graph& g, Output use) {
    const Output source = g.data_inputs(use.node)[0];
    return use.is_control() ? Output{source.node, kControlPort} : source;
  }

  // A fed node keeps its inputs: the graph stays one that verifies, and a run does not compute them
  // anyway.
  static bool RemoveUnreachable(PassContext& c) {
    Graph& g = c.graph;
    std::vector<bool> needed(g.num_node_ids(), false);
    // Most producers have lower ids: one sweep downwards finds them in the order of memory. The
    // stack is for the others.
    std::vector<NodeId> stack;
    NodeId at = g.num_node_ids();
    const auto need = [&](NodeId n) {
      if (n == kNoNode || needed[n]) return;
      needed[n] = true;
      if (n >= at) stack.push_back(n);
    };
    for (NodeId n : c.preserve) need(n);
    while (at > 0) {
      if (!needed[--at]) continue;
      stack.push_back(at);
      while (!stack.empty()) {
        const NodeId n = stack.back();
        stack.pop_back();
        for (const Output& in : g.inputs(n)) need(in.node);
      }
    }
    std::vector<NodeId> dead;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (g.alive(n) && !needed[n]) dead.push_back(n);
    }
    if (dead.empty() || !c.Allow(kRemoveUnreachable.name)) return false;
    for (NodeId n : dead) g.RemoveNode(n);
    return true;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeModelPruning() { return std::make_unique<ModelPruning>(); }

}  // namespace tenon
