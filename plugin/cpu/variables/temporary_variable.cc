// Variables of one run: TemporaryVariable makes one, DestroyTemporaryVariable gives its last value.
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/device_memory.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {
namespace {

struct TemporaryState : NodeFacts {
  explicit TemporaryState(const Prepare& p) : NodeFacts(p) {}
  Shape shape;
};

// What it holds before the first assignment is up to us: 0.
absl::Status RunMake(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TemporaryState*>(state);
  TENON_ASSIGN_OR_RETURN(Tensor value, Tensor::Allocate(s.outputs[0], s.shape));
  ElementCopy(s.outputs[0]).Zero(value.data(), 0, value.num_elements());
  auto variable = ObjectRef<Variable>::Make(s.name);
  TENON_RETURN_IF_ERROR(variable->Update([&](Tensor& held) {
    held = std::move(value);
    return absl::OkStatus();
  }));
  TENON_ASSIGN_OR_RETURN(Tensor handle, HandleTensor(DataType::kResource,
                                                     ObjectRef<Object>::Adopt(variable.release())));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status PrepareMake(Prepare& p) {
  auto s = std::make_shared<TemporaryState>(p);
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, p.AttrShape("shape"));
  if (!shape.fully_defined()) return p.Invalid("'shape' must be known");
  s->shape = *shape.ToShape();
  p.set_dynamic_output(0);
  p.set_run(&RunMake, std::move(s));
  return absl::OkStatus();
}

absl::Status RunDestroyTemporary(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  Tensor value;
  TENON_RETURN_IF_ERROR(variable->Update(
      [&](Tensor& held) {
        value = std::exchange(held, Tensor());
        return absl::OkStatus();
      },
      DeviceOf(*args.run_state)));
  if (!value.initialized() || value.dtype() != s.outputs[0]) {
    return absl::FailedPreconditionError(
        absl::StrCat("temporary variable '", variable->name(), "' ",
                     value.initialized() ? "is of another type" : "was destroyed before"));
  }
  args.run_state->SetOutput(0, std::move(value));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TemporaryVariableKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("TemporaryVariable", PrepareMake),
      WholeTensorKernel("DestroyTemporaryVariable", PrepareWhole<&RunDestroyTemporary>),
  };
  return specs;
}

}  // namespace tenon::cpu
