// A node with a CPU kernel becomes one of three things: names for constants or for its inputs,
// without a step; a planned step, which reads and writes places of the arena; or a KernelStep on
// tensors, where shapes or values are known only in a run.

#include "executor/plan/steps/cpu_steps.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
namespace {

CpuNode NodeOf(const Graph& graph, NodeId n, const CpuKernelSpec& spec) {
  const NodeKind& kind = graph.kind(n);
  return {graph.name(n), kind.op, &kind.attrs, &kind.types, &spec};
}

bool IsHandle(DataType t) { return IsRef(t) || t == DataType::kResource; }

// The device in whose memory a node of this op, placed on `device`, has its tensors; null: the
// host. Only ops that pass tensors on without a look at them (reading and assigning variables) can
// work in a device's memory with the CPU's kernel.
Device* MemoryFor(const OpFacts& op, const NodeTypes& types, Device* device) {
  if (device->is_host() || op.other_devices != OtherDevices::kInPlace) return nullptr;
  const auto only_on_host = [](DataType t) { return !IsHandle(t) && !IsMemcpyable(t); };
  const bool fits = std::none_of(types.inputs.begin(), types.inputs.end(), only_on_host) &&
                    std::none_of(types.outputs.begin(), types.outputs.end(), only_on_host);
  return fits ? device : nullptr;
}

// Whether a value may go by another name with this shape. Tensors that are objects of a device have
// shapes of their own.
bool MayAlias(const PlanValue& v, const Shape& shape) {
  return v.device == nullptr || v.device->has_streams() ||
         (v.shape != nullptr && *v.shape == shape);
}

// What a node of these types is prepared with, wherever its values lie; nullopt if a shape or a
// needed value is not known.
std::optional<std::vector<Preparation::Input>> KnownOnDevice(const StepGraph& graph,
                                                             const NodeTypes& types,
                                                             const CpuKernelSpec& spec,
                                                             absl::Span<const int32_t> values) {
  std::vector<Preparation::Input> known(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const PlanValue& v = graph.values[values[i]];
    if (v.reference || IsRef(types.inputs[i]) || v.shape == nullptr) return std::nullopt;
    if (NeedsValue(spec, i) && v.constant == nullptr) return std::nullopt;
    known[i].shape = *v.shape;
    known[i].value = GivenValue(v, spec, i);
  }
  return known;
}

}  // namespace

CpuSteps::CpuSteps(const PlanInput& input, StepBuilder& steps, DeviceCopies& copies,
                   Operands& operands)
    : in_(input),
      steps_(steps),
      copies_(copies),
      operands_(operands),
      preparations_(input, steps.graph()),
      folder_(input, steps),
      only_host_(std::all_of(input.devices.begin(), input.devices.end(),
                             [](const Device* d) { return d == nullptr || d->is_host(); })) {}

absl::Status CpuSteps::Add(NodeId n, const CpuKernelSpec& spec) {
  TENON_ASSIGN_OR_RETURN(const bool there, AddInDeviceMemory(n, spec));
  if (there) return absl::OkStatus();
  const NodeTypes& types = in_.graph.kind(n).types;
  absl::InlinedVector<int32_t, 4> ids(in_.graph.num_inputs(n));
  Device* const device = MemoryFor(in_.graph.facts(n), types, in_.devices[n]);
  bool known = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    Device* const memory = IsHandle(types.inputs[i]) ? nullptr : device;
    TENON_ASSIGN_OR_RETURN(ids[i], operands_.Get(n, static_cast<int>(i), memory));
    if (memory != nullptr) {
      copies_.AwaitArrival(n, ids[i]);
      ids[i] = copies_.InSlot(n, ids[i]);
    }
    const PlanValue& v = steps_.value(ids[i]);
    known &= v.shape != nullptr && (!NeedsValue(spec, i) || v.constant != nullptr);
  }
  // A kernel of whole tensors is prepared once, whatever the shapes: it needs none of them.
  if (!known && !spec.whole_tensors) return AddTensorStep(n, spec, ids, nullptr);
  const absl::StatusOr<std::shared_ptr<const Preparation>> p = preparations_.For(n, spec, ids);
  if (!p.ok()) return steps_.FailLater(n, p.status());
  if (spec.whole_tensors) return AddTensorStep(n, spec, ids, p->get(), device);
  TENON_ASSIGN_OR_RETURN(const bool folded, folder_.Fold(n, spec, **p, ids));
  return folded ? absl::OkStatus() : AddPrepared(n, spec, **p, ids);
}

// A kernel that computes nothing, such as that of Shape or Reshape, needs no elements of its
// inputs. So it is prepared with what is known of inputs in a device's memory, before any copy to
// the host is planned for the node.
absl::StatusOr<bool> CpuSteps::AddInDeviceMemory(NodeId n, const CpuKernelSpec& spec) {
  if (only_host_ || spec.stateful || spec.whole_tensors) return false;
  absl::InlinedVector<int32_t, 4> ids;
  bool on_device = false;
  for (const Output& from : in_.graph.data_inputs(n)) {
    ids.push_back(steps_.graph().ValueOf(from));
    on_device |= steps_.value(ids.back()).device != nullptr;
  }
  if (!on_device) return false;
  std::optional<std::vector<Preparation::Input>> inputs =
      KnownOnDevice(steps_.graph(), in_.graph.kind(n).types, spec, ids);
  if (!inputs) return false;
  const absl::StatusOr<std::shared_ptr<const Preparation>> p =
      PrepareKernel(NodeOf(in_.graph, n, spec), *std::move(inputs), in_.session, in_.workers);
  // An error is left to the second preparation, on the host.
  if (!p.ok() || (*p)->run() != nullptr) return false;
  for (const Preparation::PreparedOutput& o : (*p)->outputs()) {
    if (!o.value.has_value() && !o.alias.has_value()) return false;
    if (o.alias.has_value() && !MayAlias(steps_.value(ids[*o.alias]), o.shape)) return false;
  }
  TENON_RETURN_IF_ERROR(AddPrepared(n, spec, **p, ids));
  return true;
}

absl::Status CpuSteps::AddPrepared(NodeId n, const CpuKernelSpec& spec, const Preparation& p,
                                   Inputs inputs) {
  if (p.run() == nullptr) return NameOutputs(n, p, inputs);
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Preparation::PreparedOutput& o = p.outputs()[i];
    const DataType dtype = steps_.value(steps_.graph().first_value[n] + i).dtype;
    if (o.dynamic || o.value.has_value() || !IsMemcpyable(dtype))
      return AddTensorStep(n, spec, inputs, &p);
  }
  return AddPlannedStep(n, p, inputs);
}

absl::Status CpuSteps::NameOutputs(NodeId n, const Preparation& p, Inputs inputs) {
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Preparation::PreparedOutput& o = p.outputs()[i];
    const int32_t id = steps_.graph().first_value[n] + i;
    if (o.value.has_value()) {
      steps_.SetOwnConstant(id, *o.value, false);
    } else if (o.alias.has_value()) {
      steps_.SetAlias(id, inputs[*o.alias], o.shape);
    } else if (!o.dynamic && o.shape.num_elements() == 0) {
      TENON_ASSIGN_OR_RETURN(Tensor empty, Tensor::Allocate(BaseType(p.output_type(i)), o.shape));
      steps_.SetOwnConstant(id, std::move(empty), false);
    } else {
      return absl::InternalError("its kernel prepared neither a run function nor all values");
    }
  }
  return absl::OkStatus();
}

absl::Status CpuSteps::AddPlannedStep(NodeId n, const Preparation& p, Inputs inputs) {
  StepGraph& graph = steps_.graph();
  TENON_ASSIGN_OR_RETURN(const StorageList reads, Reads(p, inputs));
  StorageList writes;
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Preparation::PreparedOutput& o = p.outputs()[i];
    const int32_t id = graph.first_value[n] + i;
    steps_.value(id).shape = steps_.Known(o.shape);
    if (o.alias.has_value()) {
      steps_.SetAlias(id, inputs[*o.alias], o.shape);
      writes.push_back(-1);
      continue;
    }
    PlanValue& v = steps_.value(id);
    TENON_ASSIGN_OR_RETURN(v.storage, steps_.NewPlace(v));
    writes.push_back(v.storage);
  }
  // Nodes of one kind and shape share a preparation, and so a state.
  if (p.state() != nullptr && kept_states_.insert(p.state().get()).second)
    graph.resources.states.push_back(p.state());
  GraphStep& step = steps_.AddStep(n, reads, writes);
  for (int i = 0; i < p.num_outputs(); ++i) {
    if (p.outputs()[i].alias.has_value()) continue;
    for (int in : p.outputs()[i].in_place)
      graph.in_place.push_back(
          {graph.num_steps() - 1, static_cast<int16_t>(i), static_cast<int16_t>(in)});
  }
  step.fn = p.run();
  step.guard = graph.node_alive[n];
  step.state = p.state().get();
  step.scratch_bytes = p.scratch_bytes();
  return absl::OkStatus();
}

absl::StatusOr<CpuSteps::StorageList> CpuSteps::Reads(const Preparation& p, Inputs inputs) {
  StorageList reads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const constant = steps_.value(inputs[i]).constant;
    const bool dropped = p.inputs()[i].dropped;
    if (dropped && constant != nullptr) {
      in_.constants.CountPacked(*constant);
      in_.constants.DropPages(*constant);
    }
    int32_t storage = -1;
    if (!dropped) {
      TENON_ASSIGN_OR_RETURN(storage, steps_.ReadStorage(inputs[i]));
    }
    reads.push_back(storage);
  }
  return reads;
}

// The shape of output i of node n if the node reads a variable of which a feed tells the shape.
const Shape* CpuSteps::ShapeOfRead(NodeId n, int i, Inputs inputs) const {
  const std::string_view op = in_.graph.op_name(n);
  if (op != "ReadVariableOp" && op != "_ReadVariablesOp") return nullptr;
  const int32_t id = steps_.value(inputs[static_cast<size_t>(i)]).storage;
  if (id < 0) return nullptr;
  const auto& storage = steps_.graph().storages[id];
  if (storage.where != Where::kFeed) return nullptr;
  const std::optional<Shape>& shape = in_.feed_specs[storage.index].variable_shape;
  return shape.has_value() ? &*shape : nullptr;
}

absl::Status CpuSteps::AddTensorStep(NodeId n, const CpuKernelSpec& spec, Inputs inputs,
                                     const Preparation* prepared, Device* device) {
  StepGraph& graph = steps_.graph();
  std::vector<StepInput> step_inputs;
  std::vector<const Tensor*> constants;
  StorageList reads, writes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int32_t storage, steps_.ReadStorage(inputs[i]));
    reads.push_back(storage);
    step_inputs.push_back(steps_.InputOf(inputs[i]));
    constants.push_back(GivenValue(steps_.value(inputs[i]), spec, i));
  }
  std::vector<int32_t> slots;
  std::vector<std::optional<Shape>> promised;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i) {
    const int32_t id = graph.first_value[n] + i;
    PlanValue& v = steps_.value(id);
    const Preparation::PreparedOutput* const o =
        prepared == nullptr ? nullptr : &prepared->outputs()[i];
    if (o != nullptr && (!o->dynamic || o->promised)) v.shape = steps_.Known(o->shape);
    if (const Shape* shape = ShapeOfRead(n, i, inputs); shape != nullptr && v.shape == nullptr)
      v.shape = steps_.Known(*shape);
    if (o != nullptr && o->alias.has_value()) {
      steps_.SetAlias(id, inputs[*o->alias], *v.shape);
      writes.push_back(-1);
      slots.push_back(-1);
      promised.push_back(std::nullopt);
      continue;
    }
    v.storage = steps_.NewSlot();
    if (device != nullptr && !IsHandle(v.dtype)) copies_.ComputedOn(device, v);
    writes.push_back(v.storage);
    slots.push_back(steps_.SlotOf(v.storage));
    promised.push_back(steps_.InputOf(id).shape);
  }
  auto step = std::make_unique<KernelStep>(NodeOf(in_.graph, n, spec), std::move(step_inputs),
                                           std::move(constants), std::move(slots),
                                           std::move(promised), in_.session, in_.late);
  if (prepared != nullptr) {
    PreparedKernel kernel = PreparedKernel::From(*prepared);
    kernel.aliases_planned = true;  // SetAlias above has given these outputs the input's place
    step->set_prepared(std::move(kernel));
  } else {
    step->set_number(graph.num_late++);
  }
  step->set_device(device);
  KernelStep* const raw = step.get();
  steps_.AddSlowStep(n, std::move(step), graph.node_alive[n], reads, writes).kernel = raw;
  return absl::OkStatus();
}

}  // namespace tenon
