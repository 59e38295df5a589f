// Computes nodes while planning if the values of all their inputs are known.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

class Preparation;     // plugin/kernels/preparation.h
struct CpuKernelSpec;  // plugin/kernels/kernel_spec.h

// Shares results between the plans of an executable through PlanInput::constants. Not thread-safe.
class ConstantFolder {
 public:
  ConstantFolder(const PlanInput& input, StepBuilder& steps) : in_(input), steps_(steps) {}

  // Computes node n, on the calling thread and the session's workers, and makes its outputs
  // constants of the plan. Takes the outputs that another plan has computed, if all inputs are the
  // same in all plans. May then drop the values of folded nodes that only folded nodes read.
  // `p` is the kernel's preparation for the values `inputs`. node_alive[n] must be set. Returns
  // false, and changes nothing, if the node needs a step:
  // * an input is no constant, the kernel has no run function, or the kernel or the op is stateful;
  // * the outputs together take more than 16 MiB and more than the inputs together. The text of
  //   strings does not count, nor does an output whose shape the kernel does not know beforehand;
  // * the kernel fails, and the node lies in a loop or in a branch that may never run it.
  // Returns the kernel's error, without the node's name, if the kernel fails and the node always
  // runs; RESOURCE_EXHAUSTED if there is no memory to align an input.
  absl::StatusOr<bool> Fold(NodeId n, const CpuKernelSpec& spec, const Preparation& p,
                            absl::Span<const int32_t> inputs);

 private:
  // Whether all inputs are constants and the outputs are small enough.
  bool MayFold(const Preparation& p, absl::Span<const int32_t> inputs) const;
  absl::StatusOr<std::optional<std::vector<Tensor>>> Compute(NodeId n, const Preparation& p,
                                                             absl::Span<const int32_t> inputs);
  void CountReaders();
  void DropInputs(NodeId n, absl::Span<const int32_t> inputs);

  const PlanInput& in_;
  StepBuilder& steps_;
  // By node: its outputs in StepGraph::resources, if they are the same in all plans.
  absl::flat_hash_map<NodeId, std::vector<Tensor>*> folded_;
  // By node id: the inputs and fetches that read the node, without those of folded nodes. Empty:
  // not counted yet.
  std::vector<int32_t> readers_;
};

}  // namespace tenon
