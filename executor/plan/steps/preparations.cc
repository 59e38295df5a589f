// Nodes of one kind with inputs of the same shapes share one preparation, unless the kernel has
// looked at values of inputs.

#include "executor/plan/steps/preparations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {

const Tensor* GivenValue(const PlanValue& v, const CpuKernelSpec& spec, size_t i) {
  return v.graph_constant || NeedsValue(spec, i) ? v.constant : nullptr;
}

absl::StatusOr<std::shared_ptr<const Preparation>> Preparations::For(
    NodeId n, const CpuKernelSpec& spec, absl::Span<const int32_t> inputs) {
  const NodeKind& kind = in_.graph.kind(n);
  const bool stateless = !spec.stateful && !spec.whole_tensors && !kind.op->is_stateful;
  Signature signature = {&kind, &spec, {}};
  bool valued = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& v = graph_.values[inputs[i]];
    signature.inputs.push_back(v.shape);
    valued |= GivenValue(v, spec, i) != nullptr;
  }
  // Whether the kernel looks at values is known only after it was prepared once for this signature.
  if (stateless) {
    const auto known = made_.find(signature);
    if (known != made_.end() && !(valued && known->second->asked_for_values()))
      return known->second;
  }
  std::vector<Preparation::Input> given(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& v = graph_.values[inputs[i]];
    if (v.shape != nullptr) given[i].shape = *v.shape;
    given[i].value = GivenValue(v, spec, i);
  }
  TENON_ASSIGN_OR_RETURN(
      std::shared_ptr<const Preparation> p,
      PrepareKernel({in_.graph.name(n), kind.op, &kind.attrs, &kind.types, &spec}, std::move(given),
                    in_.session, in_.workers));
  if (stateless && !(valued && p->asked_for_values()))
    made_.insert_or_assign(std::move(signature), p);
  return p;
}

}  // namespace tenon
