#include "executor/api/eager/execute/plugin_call.h"

#include "absl/strings/str_cat.h"
#include "executor/api/eager/execute/input_memory.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_guards.h"
#include "graph/op_defs/attr_entry.h"
#include "graph/wire/wire.h"

namespace tenon::eager {
namespace {

// NodeDef bytes: a kernel may ask for them.
std::string NodeDefWire(const CallNode& node, const std::vector<std::string>& inputs,
                        const std::string& device) {
  constexpr uint32_t kName = 1, kOp = 2, kInput = 3, kDevice = 4;
  std::string wire;
  WireWriter writer(&wire);
  writer.Bytes(kName, node.name);
  writer.Bytes(kOp, node.def->name);
  for (const std::string& input : inputs) writer.Bytes(kInput, input);
  writer.Bytes(kDevice, device);
  for (const Attr& attr : node.attrs.all()) AppendAttrEntry(attr, &wire);
  return wire;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Callable>> PluginCall::Make(Context& context, CallNode node,
                                                           std::shared_ptr<const KernelDef> kernel,
                                                           Device* device) {
  std::shared_ptr<PluginCall> call(new PluginCall(context, std::move(node), device));
  KernelNode described;
  described.name = call->node_.name;
  described.op = call->node_.def;
  described.attrs = &call->node_.attrs;
  described.types = &call->node_.types;
  for (size_t i = 0; i < call->node_.types.inputs.size(); ++i)
    described.input_names.push_back(absl::StrCat("input_", i));
  described.device_name =
      device == nullptr ? context.devices()[0]->full_name() : device->full_name();
  described.node_def_wire = NodeDefWire(call->node_, described.input_names, described.device_name);
  described.surroundings = context.kernel_surroundings();
  TENON_ASSIGN_OR_RETURN(call->kernel_,
                         PluginKernel::Create(std::move(kernel), std::move(described), device));
  return call;
}

ContextPtr PluginCall::TakeContext() {
  absl::MutexLock lock(&mutex_);
  if (idle_.empty()) return NewContext();
  ContextPtr context = std::move(idle_.back());
  idle_.pop_back();
  return context;
}

absl::Status PluginCall::Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) {
  const MemoryTypes& memory = kernel_->memory();
  absl::InlinedVector<Tensor, 4> values(inputs.size());
  absl::InlinedVector<ComputeArgs::Input, 4> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Device* const wanted = memory.input_on_host[i] ? nullptr : device();
    TENON_ASSIGN_OR_RETURN(
        values[i], BringInput(*inputs[i], {node_.def->name, i, device(), wanted}, call.policy));
    // The kernel may use the buffer of a value that nobody else has.
    pointers.push_back({&values[i], true});
  }
  absl::InlinedVector<Tensor*, 2> results;
  for (Tensor& output : outputs) results.push_back(&output);
  ComputeArgs args;
  args.inputs = pointers;
  args.outputs = results;
  args.step_id = context_.NextStep();
  args.timeout_s = context_.options().session.device_timeout_s;
  ContextPtr context = TakeContext();
  absl::Status status = kernel_->Compute(args, context);
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(context));
  return status;
}

}  // namespace tenon::eager
