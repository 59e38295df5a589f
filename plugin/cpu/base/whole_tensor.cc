// Kernels whose inputs are whole Tensor objects (resources, variants, handles): reads and checks of
// such inputs, and handles as outputs.
#include "plugin/cpu/base/whole_tensor.h"

#include <utility>

#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

NodeFacts::NodeFacts(const Prepare& p) : name(p.node_name()) {
  for (int i = 0; i < p.num_inputs(); ++i) inputs.push_back(BaseType(p.input_type(i)));
  for (int i = 0; i < p.num_outputs(); ++i) outputs.push_back(BaseType(p.output_type(i)));
}

void SetWholeRun(Prepare& p, RunFn run, std::shared_ptr<const void> state) {
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(run, std::move(state));
}

void SetScalarRun(Prepare& p, RunFn run, std::shared_ptr<const void> state) {
  p.set_output_shape(0, Shape());
  p.set_run(run, std::move(state));
}

CloseState::CloseState(const Prepare& p)
    : NodeFacts(p), cancel_pending(p.AttrBool("cancel_pending_enqueues").value_or(false)) {}

absl::StatusOr<ResourcePlace> PlaceOfResource(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view container, p.AttrString("container"));
  TENON_ASSIGN_OR_RETURN(const std::string_view shared, p.AttrString("shared_name"));
  return ResourcePlace{container, shared.empty() ? p.node_name() : shared,
                       &p.session().resources()};
}

CpuKernelSpec WholeTensorKernel(const char* op, PrepareFn prepare) {
  CpuKernelSpec spec{op, {}, prepare};
  // Their results depend on objects behind handles: such a node is never folded and never merged.
  spec.stateful = spec.whole_tensors = true;
  return spec;
}

CpuKernelSpec WholeTensorKernel(const char* op, std::string_view attr, uint64_t types,
                                PrepareFn prepare) {
  CpuKernelSpec spec = WholeTensorKernel(op, prepare);
  spec.constraints.push_back({attr, types});
  return spec;
}

absl::StatusOr<Object*> ObjectInput(const StepArgs& args, int i) {
  const Tensor handle = args.run_state->Input(i);
  if (handle.num_elements() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", i, " must hold one handle, its shape is ", handle.shape().ToString()));
  }
  return handle.ObjectAt(0);
}

absl::StatusOr<Tensor> HandleTensor(DataType type, ObjectRef<Object> object) {
  TENON_ASSIGN_OR_RETURN(Tensor handle, Tensor::Allocate(type, Shape()));
  handle.SetObject(0, std::move(object));
  return handle;
}

absl::Status SetHandle(Prepare& p, ObjectRef<Object> resource) {
  TENON_ASSIGN_OR_RETURN(Tensor handle, HandleTensor(DataType::kResource, std::move(resource)));
  p.set_output_shape(0, Shape());
  p.set_output_value(0, std::move(handle));
  return absl::OkStatus();
}

absl::StatusOr<TypeVector> TypesOf(const Prepare& p, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf(name));
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> types, attr.AsTypeList());
  return TypeVector(types.begin(), types.end());
}

absl::StatusOr<int64_t> IntInput(const StepArgs& args, int i) {
  const Tensor value = args.run_state->Input(i);
  if (value.num_elements() == 1) return value.IntAt(0);
  return absl::InvalidArgumentError(
      absl::StrCat("input ", i, " must hold one value, its shape is ", value.shape().ToString()));
}

absl::StatusOr<PartialShape> ShapeInput(const StepArgs& args, int i) {
  const Tensor value = args.run_state->Input(i);
  if (value.shape().rank() == 0) {
    // TensorFlow writes an unknown rank as the scalar -1.
    if (value.IntAt(0) == kUnknownDim) return PartialShape();
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", i, " must be a shape, or the scalar -1, but it is the scalar ", value.IntAt(0)));
  }
  if (value.shape().rank() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " must be a shape, its own is ", value.shape().ToString()));
  }
  Dims dims;
  for (int64_t k = 0; k < value.num_elements(); ++k) dims.push_back(value.IntAt(k));
  return PartialShape::Make(dims);
}

}  // namespace tenon::cpu
