// Prepares CPU kernels while planning: once for all nodes of equal kind and input shapes, if
// neither values nor state decide the preparation.
#pragma once

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/base/step_graph.h"
#include "executor/run/preparation_cache.h"

namespace tenon {

class Preparation;     // plugin/kernels/preparation.h
struct CpuKernelSpec;  // plugin/kernels/kernel_spec.h

// The value of input i as a kernel may see it: if known, a value that the kernel needs or a
// constant of the graph; else null. Not owned.
const Tensor* GivenValue(const PlanValue& v, const CpuKernelSpec& spec, size_t i);

// Keeps the preparations of one plan. Both references must outlive this object. Not thread-safe.
class Preparations {
 public:
  Preparations(const PlanInput& input, const StepGraph& graph) : in_(input), graph_(graph) {}

  // Prepares the kernel `spec` for node n with these values as inputs, or returns the preparation
  // of an earlier node of the same kind, kernel and input shapes. Shapes and needed values of the
  // inputs must be known, unless spec.whole_tensors. A node has a preparation of its own if its op
  // or kernel is stateful, if spec.whole_tensors is set, or if the kernel looks at values and one
  // input has a value to look at (GivenValue). Errors are those of PrepareKernel.
  absl::StatusOr<std::shared_ptr<const Preparation>> For(NodeId n, const CpuKernelSpec& spec,
                                                         absl::Span<const int32_t> inputs);

 private:
  // Everything that decides a preparation into which neither a value of an input nor state goes.
  // Kinds and shapes are interned, so that pointers are compared.
  struct Signature {
    const NodeKind* kind;
    const CpuKernelSpec* spec;
    absl::InlinedVector<const Shape*, 3> inputs;
    friend bool operator==(const Signature&, const Signature&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Signature& s) {
      return H::combine(std::move(h), s.kind, s.spec, s.inputs);
    }
  };

  const PlanInput& in_;
  const StepGraph& graph_;
  absl::flat_hash_map<Signature, std::shared_ptr<const Preparation>> made_;
};

}  // namespace tenon
