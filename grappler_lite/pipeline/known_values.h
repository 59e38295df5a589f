// Values that do not depend on what a run feeds.
#pragma once

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Nodes that must be run where they stand, whatever their inputs are.
bool NeverFolds(const Graph& graph, NodeId n);

// Computes values that follow from constants alone, without changing the graph. A value that waits
// for something, or is the work of many nodes, of large values or of long computations, counts as
// unknown.
class KnownValues {
 public:
  // Nothing of `unknown` is looked at: nodes that are fed. `gate` counts the work.
  KnownValues(const Graph& graph, NodeEvaluator& evaluator,
              const absl::flat_hash_set<NodeId>& unknown, RewriteGate& gate)
      : graph_(graph), evaluator_(evaluator), unknown_(unknown), gate_(gate) {}

  // Takes the value of an output as given.
  void Set(Output output, Tensor value) { values_[output] = std::move(value); }
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

// Whether a tensor decides for true, as If and While take it: a number that is not zero. None for
// types that say nothing here.
std::optional<bool> Truth(const Tensor& value);

}  // namespace tenon
