// A value that follows from a shape is folded without its operand being computed, so an error of
// the operand would be lost. For each folded constant that the run needs, Keeper searches back to
// the nodes that may fail, and makes the constant wait for them unless the run computes them
// anyway.

#include "grappler_lite/passes/constant_folding/folded_origins.h"

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/cannot_fail.h"

namespace tenon {

void FoldedOrigins::Note(const Graph& graph, NodeId n, NodeId constant) {
  std::vector<NodeId> origins;
  for (const Output& in : graph.data_inputs(n)) {
    if (graph.op_name(in.node) != "Const" || origins_.contains(in.node)) origins.push_back(in.node);
  }
  if (origins.empty()) return;
  origins_.emplace(constant, std::move(origins));
  folded_.push_back(constant);
}

class FoldedOrigins::Keeper {
 public:
  Keeper(PassContext& context, const GraphShapes* shapes, const FoldedOrigins& folded)
      : c_(context),
        g_(context.graph),
        shapes_(shapes),
        folded_(folded),
        needed_(g_.num_node_ids(), false),
        looked_at_(g_.num_node_ids(), false) {
    for (const NodeId n : c_.preserve) Need(n);
  }

  void Run() {
    for (const NodeId n : folded_.folded_) {
      if (needed_[n]) Keep(n);
    }
  }

 private:
  void Need(NodeId n) {
    std::vector<NodeId> stack = {n};
    while (!stack.empty()) {
      const NodeId m = stack.back();
      stack.pop_back();
      if (needed_[m]) continue;
      needed_[m] = true;
      for (const Output& in : g_.inputs(m)) stack.push_back(in.node);
    }
  }

  // Looks from constant n back to what may fail, through what cannot and through other constants.
  void Keep(NodeId n) {
    std::vector<NodeId> stack = folded_.origins_.at(n);
    while (!stack.empty()) {
      const NodeId m = stack.back();
      stack.pop_back();
      // A node that the run needs anyway reports its own error. One look at a node is enough: a
      // constant that the run needs waits for it already.
      if (needed_[m] || looked_at_[m] || c_.feeds.contains(m)) continue;
      looked_at_[m] = true;
      if (const auto it = folded_.origins_.find(m); it != folded_.origins_.end()) {
        stack.insert(stack.end(), it->second.begin(), it->second.end());
      } else if (IsHarmless(m)) {
        for (const Output& in : g_.inputs(m)) stack.push_back(in.node);
      } else {
        g_.AddControlInput(n, m);
        Need(m);
      }
    }
  }

  bool IsHarmless(NodeId n) const {
    if (g_.op_name(n) == "Placeholder") return true;
    return shapes_ == nullptr
               ? NeverFails(g_.facts(n))
               : CannotFail(g_, n, [&](Output o) -> const TensorInfo& { return shapes_->info(o); });
  }

  PassContext& c_;
  Graph& g_;
  const GraphShapes* shapes_;
  const FoldedOrigins& folded_;
  std::vector<bool> needed_, looked_at_;  // by node id
};

void FoldedOrigins::KeepErrors(PassContext& context, const GraphShapes* shapes) const {
  if (!folded_.empty()) Keeper(context, shapes, *this).Run();
}

}  // namespace tenon
