// Kernels of plug-ins work on tensors: their outputs lie in slots, never in the arena, and inputs
// are first copied to the memory that the kernel declares for them.

#include "executor/plan/steps/plugin_steps.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "executor/run/aligned.h"
#include "graph/base/status_macros.h"
#include "graph/shapes/shape_inference.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"

namespace tenon {
namespace {

// The storages that hold handles of what the kernel may change: variables and other resources.
std::vector<int32_t> EffectsOf(const NodeTypes& types, absl::Span<const int32_t> reads) {
  std::vector<int32_t> effects;
  for (size_t i = 0; i < reads.size(); ++i) {
    const DataType type = types.inputs[i];
    if (reads[i] >= 0 && (IsRef(type) || type == DataType::kResource)) effects.push_back(reads[i]);
  }
  return effects;
}

}  // namespace

absl::Status PluginSteps::Add(NodeId n, const KernelDef& def, Device* device) {
  TENON_ASSIGN_OR_RETURN(PluginKernel * kernel, in_.kernels.Create(in_.graph, n, device));
  StepGraph& graph = steps_.graph();
  copies_.streams().Use(device);
  if (in_.promises.Believed(in_.graph, n)) InferShapes(n);
  const MemoryTypes& memory = kernel->memory();
  std::vector<PluginStep::Input> inputs;
  std::vector<int32_t> reads, writes, slots;
  std::vector<StreamWait> waits;
  const DeviceStream stream = {device, StreamKind::kCompute, StreamOf(n)};
  TENON_RETURN_IF_ERROR(Gather(n, stream, memory, inputs, reads, waits));
  // Behind Gather: the copies of inputs must not wait for this kernel's own work.
  const int64_t ticket = device->is_host() ? 0 : copies_.streams().NextTicket(stream);
  if (!streams_.empty() && !device->is_host()) {
    control_waits_.Before(n, stream, graph.node_alive[n], waits);
    control_waits_.Computed(n, stream, ticket);
  }
  const NodeTypes& types = in_.graph.kind(n).types;
  std::vector<std::optional<Shape>> promised;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i) {
    const int32_t id = graph.first_value[n] + i;
    PlanValue& v = steps_.value(id);
    v.storage = steps_.NewSlot();
    if (!device->is_host() && !LiesOnHost(types.outputs[i], memory.output_on_host[i])) {
      v.device = device;
      v.stream = static_cast<uint8_t>(stream.number);
      v.ticket = ticket;
    }
    writes.push_back(v.storage);
    slots.push_back(steps_.SlotOf(v.storage));
    promised.push_back(steps_.InputOf(id).shape);
  }
  if (kernel->is_async()) {
    if (!device->is_host()) copies_.streams().UseInAnyOrder(stream);
    auto step = std::make_unique<AsyncStep>(graph.num_calls, kernel, device, std::move(inputs),
                                            slots, std::move(promised), def.plugin);
    step->WorkOn(stream.number, std::move(waits));
    AsyncStep* const raw = step.get();
    steps_.AddSlowStep(n, std::move(step), graph.node_alive[n], reads, writes).plugin = raw;
    steps_.BeginsCall(n, writes, EffectsOf(types, reads));
    return absl::OkStatus();
  }
  auto step = std::make_unique<PluginStep>(kernel, device, std::move(inputs), slots,
                                           std::move(promised), def.plugin);
  step->WorkOn(stream.number, std::move(waits));
  PluginStep* const raw = step.get();
  if (!streams_.empty() && !device->is_host() && MayHaveStream(n))
    copies_.streams().IsWorkOf(stream, raw);
  steps_.AddSlowStep(n, std::move(step), graph.node_alive[n], reads, writes).plugin = raw;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i)
    TENON_RETURN_IF_ERROR(copies_.BeginToHost({n, i}));
  return absl::OkStatus();
}

int PluginSteps::StreamOf(NodeId n) const {
  return streams_.empty() || !MayHaveStream(n) ? 0 : streams_[n];
}

bool PluginSteps::MayHaveStream(NodeId n) const {
  return steps_.graph().node_alive[n] == FlagTree::kAlways && !steps_.InLoop();
}

absl::Status PluginSteps::Gather(NodeId n, const DeviceStream& stream, const MemoryTypes& memory,
                                 std::vector<PluginStep::Input>& inputs,
                                 std::vector<int32_t>& reads, std::vector<StreamWait>& waits) {
  Device* const device = stream.device;
  const NodeTypes& types = in_.graph.kind(n).types;
  inputs.resize(types.inputs.size());
  std::vector<int32_t> ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].on_host = device->is_host() || LiesOnHost(types.inputs[i], memory.input_on_host[i]);
    TENON_ASSIGN_OR_RETURN(const int32_t id, operands_.Get(n, static_cast<int>(i),
                                                           inputs[i].on_host ? nullptr : device));
    ids.push_back(id);
  }
  // All copies are queued before the host waits for the first one: they overlap.
  const bool waits_for_feed = std::any_of(ids.begin(), ids.end(), [this](int32_t id) {
    return steps_.value(id).event >= 0 && steps_.value(id).fed;
  });
  if (waits_for_feed) TENON_RETURN_IF_ERROR(copies_.QueueNextFeed(n, device));
  for (const int32_t id : ids) copies_.AwaitArrival(n, id);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (inputs[i].on_host) continue;
    inputs[i].of_other_stream = steps_.value(ids[i]).stream != stream.number;
    copies_.ReadOnStream(ids[i], stream, steps_.graph().node_alive[n], waits);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& v = steps_.value(ids[i]);
    PluginStep::Input& input = inputs[i];
    input.from = steps_.InputOf(ids[i]);
    reads.push_back(v.storage);
    if (v.constant == nullptr || v.storage >= 0) continue;
    if (v.device == nullptr) {
      // The store aligns small constants to their size only; kernels of plug-ins get 64 bytes.
      TENON_ASSIGN_OR_RETURN(const Tensor readable, in_.constants.Aligned(*v.constant));
      TENON_ASSIGN_OR_RETURN(input.constant, Aligned(readable));
    } else {
      input.constant = *v.constant;
    }
  }
  return absl::OkStatus();
}

void PluginSteps::InferShapes(NodeId n) {
  const StepGraph& graph = steps_.graph();
  const NodeKind& kind = in_.graph.kind(n);
  std::vector<TensorInfo> infos;
  for (const Output& from : in_.graph.data_inputs(n)) {
    const PlanValue& v = graph.values[graph.ValueOf(from)];
    TensorInfo& info = infos.emplace_back();
    if (v.shape != nullptr && !v.reference) info.shape = *v.shape;
    if (v.constant != nullptr && v.device == nullptr &&
        v.constant->num_elements() <= kMaxShapeValueElements) {
      // A pointer without ownership: the plan keeps the constant.
      info.value = std::shared_ptr<const Tensor>(std::shared_ptr<const Tensor>(), v.constant);
    }
  }
  InferenceContext::Infos inputs;
  for (const TensorInfo& info : infos) inputs.push_back(&info);
  InferenceContext context(*kind.op, kind.attrs, kind.types, std::move(inputs));
  context.set_node(in_.graph.name(n));
  if (!RunShapeFn(context, in_.graph.name(n)).ok()) return;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i) {
    PlanValue& v = steps_.value(graph.first_value[n] + i);
    if (v.reference) continue;  // a handle, whatever it refers to
    std::optional<Shape> shape = context.output(i).shape.ToShape();
    v.shape = shape.has_value() ? steps_.Known(*std::move(shape)) : nullptr;
  }
}

}  // namespace tenon
