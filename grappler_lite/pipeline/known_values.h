// Finds the values of outputs that follow from constants alone, so that they are the same in every
// run, whatever the run feeds.
#pragma once

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Whether node n must run in every run, even if all its inputs are constant. True for an unknown
// op, a stateful op, an op without outputs, control flow, an op whose value comes from outside the
// graph, and an output type that no Const can hold (resource, variant).
bool NeverFolds(const Graph& graph, NodeId n);

// Computes values that follow from constants alone. The graph stays as it is. A value counts as
// unknown if a node on the way has control inputs, never folds or lies on a loop, if the evaluator
// fails on one, or if one of these limits is reached:
//   * 256 nodes for one value, besides its own node;
//   * 1 MiB for the outputs of one node;
//   * 10^8 units of work (as EstimateWork counts) for one node;
//   * 10^10 units of work in this run of the pipeline and in earlier ones (RewriteGate::worked).
// The nodes of values that are known already do not count for a value. Keeps every value that it
// computed. Not thread-safe.
class KnownValues {
 public:
  // Outputs of the nodes in `unknown` (the fed nodes) count as unknown. `gate` counts the work. All
  // arguments must outlive the object.
  KnownValues(const Graph& graph, NodeEvaluator& evaluator,
              const absl::flat_hash_set<NodeId>& unknown, RewriteGate& gate)
      : graph_(graph), evaluator_(evaluator), unknown_(unknown), gate_(gate) {}

  // States the value of an output, which Find returns from now on: for the arguments of a body.
  void Set(Output output, Tensor value) { values_[output] = std::move(value); }
  // Returns the value of an output, in the memory of the host; nullopt if the value is unknown or
  // the output is a control output. The first question computes. No node is computed twice: if the
  // answer is "unknown", later questions get that answer at once, about outputs of the same node
  // and of the nodes between this node and the one that could not be computed. If the search meets
  // too many nodes or a loop, this holds for the same node only.
  std::optional<Tensor> Find(Output output);

 private:
  bool MayCompute(NodeId n) const;
  bool Compute(NodeId n);

  const Graph& graph_;
  NodeEvaluator& evaluator_;
  const absl::flat_hash_set<NodeId>& unknown_;
  RewriteGate& gate_;
  absl::flat_hash_map<Output, Tensor> values_;
  absl::flat_hash_set<NodeId> hopeless_;
};

// The branch that If and While take for the condition `value`: true if the scalar is not zero.
// nullopt if `value` is no scalar, or is not bool, int32, int64, float or double.
std::optional<bool> Truth(const Tensor& value);

}  // namespace tenon
