// OptionalFromValue, OptionalNone and what asks them: so gradients keep what only one branch made.
#include "plugin/cpu/containers/lists/optional_value.h"

#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

struct GetState : NodeFacts {
  explicit GetState(const Prepare& p) : NodeFacts(p) {}
  std::vector<PartialShape> shapes;
};

absl::Status SetOptional(const StepArgs& args, ObjectRef<OptionalValue> optional) {
  TENON_ASSIGN_OR_RETURN(Tensor handle, HandleTensor(DataType::kVariant,
                                                     ObjectRef<Object>::Adopt(optional.release())));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status RunFromValue(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  std::vector<Tensor> components;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor component, args.run_state->TakeInput(static_cast<int>(i)));
    components.push_back(std::move(component));
  }
  return SetOptional(args, ObjectRef<OptionalValue>::Make(std::move(components)));
}

absl::Status RunNone(const void*, const StepArgs& args) {
  return SetOptional(args, ObjectRef<OptionalValue>::Make());
}

absl::Status RunHasValue(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const OptionalValue* optional, InputAs<OptionalValue>(args, 0));
  *static_cast<bool*>(args.out[0]) = optional->has_value;
  return absl::OkStatus();
}

absl::Status RunGetValue(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GetState*>(state);
  TENON_ASSIGN_OR_RETURN(const OptionalValue* optional, InputAs<OptionalValue>(args, 0));
  if (!optional->has_value) return absl::InvalidArgumentError("the optional has no value");
  if (optional->components.size() != s.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the optional has ", optional->components.size(),
                                                   " components, not ", s.outputs.size()));
  }
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    const Tensor& component = optional->components[i];
    if (component.dtype() != s.outputs[i] || !s.shapes[i].CompatibleWith(component.shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "component ", i, " is ", DataTypeName(component.dtype()), component.shape().ToString(),
          ", not ", DataTypeName(s.outputs[i]), s.shapes[i].ToString()));
    }
    args.run_state->SetOutput(static_cast<int>(i), component);
  }
  return absl::OkStatus();
}

absl::Status PrepareGetValue(Prepare& p) {
  auto s = std::make_shared<GetState>(p);
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf("output_shapes"));
  TENON_ASSIGN_OR_RETURN(s->shapes, attr.AsShapeList());
  if (s->shapes.size() != s->outputs.size())
    return p.Invalid("'output_shapes' must have a shape for each of 'output_types'");
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunGetValue, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> OptionalKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("OptionalFromValue", PrepareWhole<&RunFromValue>),
      WholeTensorKernel("OptionalNone", PrepareWhole<&RunNone>),
      WholeTensorKernel("OptionalHasValue", PrepareScalar<&RunHasValue>),
      WholeTensorKernel("OptionalGetValue", PrepareGetValue),
  };
  return specs;
}

}  // namespace tenon::cpu
