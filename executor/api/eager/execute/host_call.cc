#include "executor/api/eager/execute/host_call.h"

#include "executor/api/eager/execute/input_memory.h"
#include "executor/run/aligned.h"
#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::eager {
namespace {

// Lends the memory of an input that nobody else uses to an output that may lie there.
void ReuseInputs(const PreparedKernel& kernel, Inputs inputs, absl::Span<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Preparation::PreparedOutput& o = kernel.outputs[i];
    if (o.dynamic || o.alias.has_value() || o.value.has_value()) continue;
    const DataType type = kernel.output_types[i];
    for (const int in : o.in_place) {
      if (!inputs[in]->HasOneUser()) continue;
      const Tensor& from = inputs[in]->tensor;
      if (!from.buffer()->unique() || !IsMemcpyable(type) ||
          from.bytes() != static_cast<size_t>(o.shape.num_elements()) * DataTypeSize(type))
        continue;
      outputs[i] = Tensor(type, o.shape, from.buffer());
      break;
    }
  }
}

}  // namespace

HostCall::HostCall(Context& context, CallNode node, std::shared_ptr<const KernelDef> kernel,
                   Device* device)
    : Callable(node.types.outputs, device),
      context_(context),
      node_(std::move(node)),
      kernel_(std::move(kernel)),
      spec_(*kernel_->cpu) {}

absl::StatusOr<std::shared_ptr<Callable>> HostCall::Make(Context& context, CallNode node,
                                                         std::shared_ptr<const KernelDef> kernel,
                                                         Device* device) {
  std::shared_ptr<HostCall> call(new HostCall(context, std::move(node), std::move(kernel), device));
  if (device != nullptr && call->node_.def->facts->other_devices == OtherDevices::kInPlace) {
    KernelNode described;
    described.op = call->node_.def;
    described.attrs = &call->node_.attrs;
    described.types = &call->node_.types;
    TENON_ASSIGN_OR_RETURN(call->types_, ResolveMemoryTypes(*call->kernel_, described));
    call->memory_ = device;
  }
  return call;
}

absl::StatusOr<HostCall::Values> HostCall::Gather(Inputs inputs, const CallContext& call,
                                                  std::vector<Tensor>& copies) const {
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TFE_TensorHandle& input = *inputs[i];
    Device* const wanted = memory_ == nullptr || types_.input_on_host[i] ? nullptr : memory_;
    const bool there = input.memory == wanted && (wanted != nullptr || IsAligned(input.tensor));
    if (there) {
      values.push_back(&input.tensor);
      continue;
    }
    copies.reserve(inputs.size());  // values point into it
    TENON_ASSIGN_OR_RETURN(Tensor value,
                           BringInput(input, {node_.def->name, i, device(), wanted}, call.policy));
    copies.push_back(std::move(value));
    values.push_back(&copies.back());
  }
  return values;
}

absl::StatusOr<HostCall::Prepared> HostCall::Find(const Values& values) {
  PreparationKey key;
  // A kernel of whole tensors is prepared once, whatever the shapes.
  for (size_t i = 0; i < values.size() && !spec_.whole_tensors; ++i) {
    key.AddShape(values[i]->shape());
    if (NeedsValue(spec_, i)) key.AddValue(*values[i]);
  }
  return cache_.Get(
      key, [&] { return PrepareFor(values); }, context_.preparations());
}

absl::StatusOr<HostCall::Prepared> HostCall::PrepareFor(const Values& values) {
  std::vector<Preparation::Input> known(values.size());
  for (size_t i = 0; i < values.size() && !spec_.whole_tensors; ++i) {
    known[i].shape = values[i]->shape();
    if (NeedsValue(spec_, i)) known[i].value = values[i];
  }
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Preparation> p,
                         PrepareKernel({node_.name, node_.def, &node_.attrs, &node_.types, &spec_},
                                       std::move(known), context_.states(), context_.workers()));
  return std::make_shared<const PreparedKernel>(PreparedKernel::From(*p));
}

absl::Status HostCall::Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) {
  std::vector<Tensor> copies;
  TENON_ASSIGN_OR_RETURN(const Values values, Gather(inputs, call, copies));
  TENON_ASSIGN_OR_RETURN(const Prepared prepared, Find(values));
  absl::InlinedVector<void*, 6> in;
  for (const Tensor* const value : values) in.push_back(value->data());
  auto input = [&](int i, InputUse use) -> absl::StatusOr<Tensor> {
    const bool own = values[i] == &inputs[i]->tensor;
    if (use == InputUse::kTake && own && inputs[i]->HasOneUser())
      return std::move(inputs[i]->tensor);
    return *values[i];
  };
  if (memory_ == nullptr && copies.empty()) ReuseInputs(*prepared, inputs, outputs);
  return ComputeInto(outputs, *prepared, in.data(), input, context_.workers(), memory_);
}

}  // namespace tenon::eager
