// What passes ask of kernels: the value of a node with constant inputs, whether a device has a
// kernel, and which of a node's values lie in host memory.

#include "executor/compile/passes/evaluator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/run/aligned.h"
#include "executor/run/kernel_states.h"
#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"
#include "graph/tensor/memory_bound.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
namespace {

// The memory that a kernel may take besides its outputs: scratch, packed weights, temporary
// tensors.
constexpr size_t kWorkingBytes = size_t{64} << 20;

absl::Status CheckBytes(size_t bytes, size_t max_bytes) {
  if (bytes <= max_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the results take ", bytes, " bytes; the limit is ", max_bytes));
}

// Checks the outputs with sizes that are known before anything is computed.
absl::Status CheckPrepared(const PreparedKernel& kernel, size_t max_bytes) {
  size_t sum = 0;
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const Preparation::PreparedOutput& output = kernel.outputs[i];
    if (output.dynamic && !output.promised) continue;
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(kernel.output_types[i], output.shape));
    if (__builtin_add_overflow(sum, bytes, &sum)) sum = SIZE_MAX;
  }
  return CheckBytes(sum, max_bytes);
}

// Whether the op allows the types in `attrs`. A kernel may serve more types than its op has: a pass
// must not make such a node.
bool AllowsTypes(const OpDef& op, const AttrSet& attrs) {
  for (const AttrDef& def : op.attrs) {
    const AttrValue* value = def.allowed_types.empty() ? nullptr : attrs.Find(def.name);
    if (value == nullptr || def.is_list) continue;
    const absl::StatusOr<DataType> type = value->AsType();
    if (type.ok() && std::ranges::find(def.allowed_types, *type) == def.allowed_types.end())
      return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> CpuEvaluator::Evaluate(const Graph& graph, NodeId n,
                                                           absl::Span<const Tensor> inputs,
                                                           size_t max_bytes) {
  const NodeKind& kind = graph.kind(n);
  TENON_RETURN_IF_ERROR(kind.types_status);
  auto kernel = kernels_.Find(graph.name(n), kind.op_name, kind.attrs, kind.op, "CPU", "");
  if (!kernel.ok()) return absl::UnimplementedError(kernel.status().message());
  const CpuKernelSpec* spec = (*kernel)->cpu;
  if (spec == nullptr || spec->stateful || kind.op->is_stateful) {
    return absl::UnimplementedError(
        absl::StrCat(kind.op_name, " cannot be computed ahead of a run"));
  }
  std::vector<Tensor> readable;
  std::vector<Preparation::Input> prepare_inputs(inputs.size());
  absl::InlinedVector<void*, 4> data;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Aligned(inputs[i]));
    readable.push_back(std::move(t));
    data.push_back(readable.back().data());
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    prepare_inputs[i] = {readable[i].shape(), &readable[i], false};
  // Packed weights are kept by address; these constants do not live long enough for that.
  KernelStates states;
  const auto input = [&](int i, InputUse) -> absl::StatusOr<Tensor> { return readable[i]; };
  return WithinMemory([&]() -> absl::StatusOr<std::vector<Tensor>> {
    const MemoryBound bound(kWorkingBytes + max_bytes);
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Preparation> p,
                           PrepareKernel({graph.name(n), kind.op, &kind.attrs, &kind.types, spec},
                                         std::move(prepare_inputs), states, worker_));
    const PreparedKernel prepared = PreparedKernel::From(*p);
    TENON_RETURN_IF_ERROR(CheckPrepared(prepared, max_bytes));
    DenormalGuard denormals;
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                           ComputeOutputs(prepared, data.data(), input, worker_));
    size_t held = 0;
    for (const Tensor& output : outputs) held += HeldBytes(output);
    TENON_RETURN_IF_ERROR(CheckBytes(held, max_bytes));
    return outputs;
  });
}

const std::vector<const Device*>& RegistryOracle::DevicesOf(std::string_view device) const {
  const auto [it, is_new] = devices_of_.try_emplace(device);
  std::vector<const Device*>& found = it->second;
  if (!is_new) return found;
  absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(device);
  if (!request.ok() || !IsThisTask(*request)) return found;
  const std::string type = request->type.empty() ? "CPU" : request->type;
  for (const Device* d : devices_) {
    if (d->type() == type && (request->ordinal < 0 || request->ordinal == d->ordinal()))
      found.push_back(d);
  }
  return found;
}

bool RegistryOracle::HasKernel(std::string_view device, std::string_view op,
                               const AttrSet& attrs) const {
  const OpDef* op_def = OpRegistry::Global().Find(op);
  if (op_def != nullptr && !AllowsTypes(*op_def, attrs)) return false;
  const std::vector<const Device*>& devices = DevicesOf(device);
  // Nothing is known of a device that is not here, but every device has constants.
  if (devices.empty()) return op == "Const";
  if (FactsOfOp(op_def).in_plan) return true;
  for (const Device* d : devices) {
    if (kernels_.Find("", op, attrs, op_def, d->type(), d->plugin()).ok()) return true;
  }
  return false;
}

MemoryTypes RegistryOracle::MemoryOf(const Graph& graph, NodeId n) const {
  const std::vector<const Device*>& devices = DevicesOf(graph.device(n));
  return devices.empty() ? MemoryTypes() : MemoryTypesOn(*devices.front(), graph, n, kernels_);
}

bool RegistryOracle::InputOnHost(const Graph& graph, NodeId n, int input) const {
  const auto on_host = MemoryOf(graph, n).input_on_host;
  return static_cast<size_t>(input) < on_host.size() && on_host[input];
}

bool RegistryOracle::OutputOnHost(const Graph& graph, NodeId n, int port) const {
  const auto on_host = MemoryOf(graph, n).output_on_host;
  return static_cast<size_t>(port) < on_host.size() && on_host[port];
}

MemoryTypes MemoryTypesOn(const Device& device, const Graph& graph, NodeId n,
                          const KernelRegistry& kernels) {
  const NodeKind& kind = graph.kind(n);
  const auto kernel = kernels.Find(graph.name(n), kind.op_name, kind.attrs, kind.op, device.type(),
                                   device.plugin());
  if (!kernel.ok()) return {};
  KernelNode node;
  node.name = graph.name(n);
  node.op = kind.op;
  node.attrs = &kind.attrs;
  node.types = &kind.types;
  return ResolveMemoryTypes(**kernel, node).value_or(MemoryTypes());
}

}  // namespace tenon
