// Nodes whose value nobody reads: they only make their users wait for what they are made of.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/cannot_fail.h"
#include "grappler_lite/analysis/equal_dims.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/dependency_optimization/dependency_optimization.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

class Turner {
 public:
  explicit Turner(PassContext& context)
      : c_(context), g_(context.graph), readers_(g_.num_node_ids(), 0) {}

  absl::StatusOr<bool> Run() {
    std::vector<bool> awaited(g_.num_node_ids(), false);
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n)) continue;
      for (const Output& in : g_.data_inputs(n)) ++readers_[in.node];
      for (const Output& in : g_.control_inputs(n)) awaited[in.node] = true;
    }
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (awaited[n] && readers_[n] == 0) open_.push_back(n);
    }
    bool changed = false;
    while (!open_.empty()) {
      const NodeId n = open_.back();
      open_.pop_back();
      if (!c_.Visit()) break;
      if (!MayTurn(n) || !c_.Allow(kTurnIntoNoOp.name, n)) continue;
      Turn(n);
      changed = true;
    }
    return changed;
  }

 private:
  // What can be waited for at n alone, or read by it alone, stays.
  bool MayTurn(NodeId n) {
    return g_.op_name(n) != "NoOp" && !g_.inputs(n).empty() && !c_.preserve.contains(n) &&
           !StandsForValue(g_, n) && !ReadsReference(g_, n) && CannotFailHere(n) &&
           c_.HasKernel(n, "NoOp", {});
  }

  // Shapes are asked for where there is something to ask, and once: what turns here has no reader.
  bool CannotFailHere(NodeId n) {
    if (NeverFails(g_.facts(n))) return true;
    if (!inferred_) shapes_ = InferShapes(c_);
    inferred_ = true;
    return shapes_ != nullptr &&
           CannotFail(
               g_, n, [this](Output o) -> const TensorInfo& { return shapes_->info(o); },
               [this](Output a, int i, Output b, int j) {
                 return equal_dims().SameDim(a, i, b, j);
               });
  }

  const EqualDims& equal_dims() {
    if (!equal_dims_) {
      equal_dims_.emplace(
          g_, c_.feeds,
          KnownTensors{[this](Output o) -> const PartialShape& { return shapes_->shape(o); },
                       [this](Output o) -> std::optional<Tensor> {
                         const auto& value = shapes_->info(o).value;
                         return value != nullptr && IsInteger(value->dtype())
                                    ? std::optional(*value)
                                    : std::nullopt;
                       }});
    }
    return *equal_dims_;
  }

  void Turn(NodeId n) {
    absl::flat_hash_set<NodeId> listed;
    std::vector<Output> controls;
    for (const Output& in : g_.inputs(n)) {
      if (listed.insert(in.node).second) controls.push_back({in.node, kControlPort});
    }
    for (const Output& in : g_.data_inputs(n)) {
      if (--readers_[in.node] == 0) open_.push_back(in.node);
    }
    // The NoOp keeps n's place in the order: readers of control edges wait for what n waited for.
    g_.BecomeOp(n, "NoOp", {});
    g_.SetInputs(n, {}, controls);
  }

  PassContext& c_;
  Graph& g_;
  std::vector<int64_t> readers_;  // by node: edges of data that leave it
  std::vector<NodeId> open_;
  const GraphShapes* shapes_ = nullptr;
  bool inferred_ = false;
  std::optional<EqualDims> equal_dims_;  // of the graph before anything turned
};

}  // namespace

bool StandsForValue(const Graph& g, NodeId n) {
  return std::ranges::any_of(g.data_inputs(n),
                             [&](const Output& in) { return IsAwaitedByValueOnly(g, in.node); });
}

absl::StatusOr<bool> TurnIntoNoOps(PassContext& context) { return Turner(context).Run(); }

}  // namespace tenon
