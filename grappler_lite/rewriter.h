// A forward sweep of local rewrites: each node is shown once, producers first, with its inputs
// already rewritten.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pass.h"

namespace tenon {

// One named rewrite. `apply` looks at node n; where its pattern holds, and context.Allow(name)
// agrees, it changes n in place, or names in `sweep` what uses of n shall use instead. It returns
// whether it did something.
class Sweep;
struct Rewrite {
  std::string_view name;
  Exactness exactness;
  bool (*apply)(Sweep& sweep, NodeId n);
};

// For Pass::rewrites.
std::vector<RewriteInfo> InfosOf(std::span<const Rewrite> rewrites);

class Sweep {
 public:
  // `shapes` may be null when they could not be inferred; it describes the nodes that the sweep
  // started with.
  Sweep(PassContext& context, const GraphShapes* shapes);

  // Runs the rewrites over the graph; the first that applies to a node wins. Rewrites of class
  // kFastMath run only if asked for.
  absl::StatusOr<bool> Run(std::span<const Rewrite> rewrites);

  // --- For rewrites.
  PassContext& context() { return context_; }
  const PassContext& context() const { return context_; }
  Graph& graph() { return context_.graph; }
  const Graph& graph() const { return context_.graph; }
  // Asks PassContext::Allow for the rewrite that is running at the node that it was shown.
  bool Allow() { return context_.Allow(rewrite_->name, node_); }

  // Every later use of n's output 0 becomes a use of `by`, and n goes if nothing else needs it. n
  // must not be preserved: see MayReplace. Control edges from n become control edges from by's
  // node.
  bool ReplaceBy(NodeId n, Output by);
  // Whether uses of n may be moved to `by`: n is not preserved, both are on one device, and nothing
  // that n waited for is lost: no control inputs, and every other input is itself made of `by` and
  // constants that wait for nothing. Who waits for n must not come to wait for a Switch, which runs
  // whichever of its outputs is dead.
  bool MayReplace(NodeId n, Output by) const;

  // How many uses an output had when the sweep started (control uses of its node not counted). The
  // single consumer, or kNoNode.
  int uses(Output o) const;
  bool has_control_uses(NodeId n) const;

  // What is known of a tensor. Unknown shape for nodes that were made by the sweep.
  PartialShape shape(Output o) const;
  // The value of a constant that is not fed, waits for nothing (so that it is there in every run
  // that takes its place, whatever branch is dead) and has at most `max_elements`; nullopt
  // otherwise.
  std::optional<Tensor> ConstOf(Output o, int64_t max_elements = 1 << 20) const;
  // Whether `o` is a floating or integer constant of which every element is `v`.
  bool IsSplat(Output o, double v) const;
  bool fed(NodeId n) const { return context_.feeds.contains(n); }

 private:
  void ForwardInputs(NodeId n);
  Output Resolve(Output o) const;
  bool IsFree(Output o) const;

  PassContext& context_;
  const GraphShapes* shapes_;
  int32_t known_nodes_;
  Fanouts fanouts_;
  std::vector<Output> replaced_by_;  // by node id; node kNoNode: not replaced
  std::vector<NodeId> replaced_;
  const Rewrite* rewrite_ = nullptr;
  NodeId node_ = kNoNode;
};

// Shapes as a pass may use them: a fed Placeholder has the shape that its attribute promises, any
// other fed node may be anything.
absl::StatusOr<GraphShapes> InferForPass(const PassContext& context);

}  // namespace tenon
