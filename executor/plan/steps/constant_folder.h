// Computes nodes with only known inputs while planning.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/step_builder.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

class ConstantFolder {
 public:
  ConstantFolder(const PlanInput& input, StepBuilder& steps) : in_(input), steps_(steps) {}

  // Computes node n now if all its inputs are constants and its outputs are not too large. Returns
  // false if the node needs a step.
  absl::StatusOr<bool> Fold(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                            absl::Span<const int32_t> inputs);

 private:
  bool MayFold(const Prepare& p, absl::Span<const int32_t> inputs) const;
  absl::StatusOr<std::optional<std::vector<Tensor>>> Compute(NodeId n, const Prepare& p,
                                                             absl::Span<const int32_t> inputs);
  void CountReaders();
  void DropInputs(NodeId n, absl::Span<const int32_t> inputs);

  const PlanInput& in_;
  StepBuilder& steps_;
  // Values that are the same in all plans, by node; in the StepGraph.
  absl::flat_hash_map<NodeId, std::vector<Tensor>*> folded_;
  std::vector<int32_t> readers_;  // by node id: uses left; empty: not counted yet
};

}  // namespace tenon
