// Runs a CPU kernel where no plan has given its outputs places: in a KernelStep, and for constants
// that are computed ahead of a run.

#include "executor/run/prepared_kernel.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "plugin/kernels/device_memory.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
namespace {

// The services of a run function outside of a plan: collects outputs with shapes that the kernel
// tells while it runs, and hands out inputs as tensors.
class Collector : public RunStateOnDevice {
 public:
  Collector(const PreparedKernel& kernel, InputFn input, Device* device, absl::Span<Tensor> outputs)
      : kernel_(kernel), input_(input), device_(device), outputs_(outputs) {}

  absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) override {
    TENON_ASSIGN_OR_RETURN(outputs_[i], Tensor::Allocate(kernel_.output_types[i], shape));
    return outputs_[i].data();
  }
  void SetOutput(int i, Tensor value) override { outputs_[i] = std::move(value); }
  Tensor Input(int i) override { return *input_(i, InputUse::kView); }
  absl::StatusOr<Tensor> TakeInput(int i) override { return input_(i, InputUse::kTake); }
  Device* device() const override { return device_; }

 private:
  const PreparedKernel& kernel_;
  const InputFn input_;
  Device* const device_;
  const absl::Span<Tensor> outputs_;
};

}  // namespace

namespace {

// The error of a prepared kernel that would run with elements that it must not copy.
absl::Status CheckElements(const CpuKernelSpec& spec, const Prepare& p) {
  if (p.run() == nullptr || spec.whole_tensors) return absl::OkStatus();
  // Elements of these types are counted references. A kernel that copies their bytes would make the
  // counts wrong.
  if (spec.copies_objects) return absl::OkStatus();
  const auto is_object = [](DataType t) {
    return BaseType(t) == DataType::kResource || BaseType(t) == DataType::kVariant;
  };
  bool objects = false;
  for (int i = 0; i < p.num_inputs(); ++i) objects |= is_object(p.input_type(i));
  for (int i = 0; i < p.num_outputs(); ++i) objects |= is_object(p.output_type(i));
  return objects ? p.Unimplemented("no CPU kernel for this type") : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Preparation>> PrepareKernel(
    const CpuNode& node, std::vector<Preparation::Input> inputs, SessionState& session,
    Workers& workers) {
  return WithinMemory([&]() -> absl::StatusOr<std::shared_ptr<const Preparation>> {
    auto p = std::make_shared<Prepare>(node.name, *node.op, *node.attrs, *node.types,
                                       std::move(inputs), session, workers);
    TENON_RETURN_IF_ERROR(node.spec->prepare(*p));
    TENON_RETURN_IF_ERROR(CheckElements(*node.spec, *p));
    return p;
  });
}

PreparedKernel PreparedKernel::From(const Preparation& p) {
  PreparedKernel k;
  k.outputs = p.outputs();
  for (int i = 0; i < p.num_outputs(); ++i) k.output_types.push_back(BaseType(p.output_type(i)));
  k.scratch_bytes = p.scratch_bytes();
  k.run = p.run();
  k.state = p.state();
  k.is_plain = k.run != nullptr && k.scratch_bytes == 0;
  for (size_t i = 0; i < k.outputs.size(); ++i) {
    const Preparation::PreparedOutput& o = k.outputs[i];
    k.is_plain &= !o.dynamic && !o.alias.has_value() && !o.value.has_value() &&
                  IsMemcpyable(k.output_types[i]);
  }
  return k;
}

absl::StatusOr<std::vector<Tensor>> ComputeOutputs(const PreparedKernel& kernel, void* const* in,
                                                   InputFn input, Workers& workers,
                                                   Device* device) {
  std::vector<Tensor> outputs(kernel.outputs.size());
  TENON_RETURN_IF_ERROR(ComputeInto(absl::MakeSpan(outputs), kernel, in, input, workers, device));
  return outputs;
}

namespace {

// Gives output i what the preparation has decided: a value, the buffer of an input, or memory.
absl::Status MakeOutput(const PreparedKernel& kernel, size_t i, InputFn input, Tensor& output) {
  const Preparation::PreparedOutput& o = kernel.outputs[i];
  if (o.value.has_value()) {
    output = *o.value;
  } else if (o.alias.has_value()) {
    if (kernel.aliases_planned) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const Tensor t, input(*o.alias, InputUse::kKeep));
    output = Tensor(kernel.output_types[i], o.shape, t.buffer());
  } else if (!o.dynamic && !output.initialized()) {
    return output.Become(kernel.output_types[i], o.shape);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ComputeInto(absl::Span<Tensor> outputs, const PreparedKernel& kernel, void* const* in,
                         InputFn input, Workers& workers, Device* device) {
  absl::InlinedVector<void*, 4> out(outputs.size(), nullptr);
  for (size_t i = 0; i < outputs.size(); ++i) {
    TENON_RETURN_IF_ERROR(MakeOutput(kernel, i, input, outputs[i]));
    out[i] = outputs[i].data();
  }
  if (kernel.run != nullptr) {
    BufferRef scratch;
    if (kernel.scratch_bytes > 0) {
      scratch = BufferRef::Adopt(Buffer::Allocate(kernel.scratch_bytes));
      if (!scratch)
        return absl::ResourceExhaustedError(
            absl::StrCat("no memory for ", kernel.scratch_bytes, " bytes of scratch"));
    }
    Collector collector(kernel, input, device, outputs);
    StepArgs args{in, out.data(), scratch ? scratch->data() : nullptr, &workers, &collector};
    TENON_RETURN_IF_ERROR(kernel.run(kernel.state.get(), args));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].initialized() && !(kernel.aliases_planned && kernel.outputs[i].alias))
      return absl::InternalError(absl::StrCat("the kernel left output ", i, " without a value"));
  }
  return absl::OkStatus();
}

}  // namespace tenon
