// Devices with their own memory: copies at the edges, streams, and the waits between them that are
// not implied by others.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/aligned.h"
#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"
#include "graph/status_macros.h"
#include "plugin/device_copy.h"

namespace tenon {
namespace {

enum StreamKind { kCompute, kHostToDevice, kDeviceToHost, kDeviceToDevice, kStreamKinds };

StreamHandle HandleOf(Device* device, int kind) {
  switch (kind) {
    case kCompute:
      return device->compute_stream();
    case kHostToDevice:
      return device->host_to_device_stream();
    case kDeviceToHost:
      return device->device_to_host_stream();
    default:
      return device->device_to_device_stream();
  }
}

// Others meet in the host's memory: what two plug-ins bring under one name, too.
bool CopiesDirectly(const Device& from, const Device& to) {
  return from.type() == to.type() && from.plugin() == to.plugin() && from.copies_between();
}

// Handles of variables and variants lie in host memory, whatever the kernel says.
bool LiesOnHost(DataType type, bool declared) {
  return declared || IsRef(type) || type == DataType::kVariant;
}

}  // namespace

void PlanBuilder::UseDevice(Device* device) {
  for (int32_t scope = device->is_host() ? -1 : scope_; scope >= 0;
       scope = loop_scopes_[scope].parent)
    loop_scopes_[scope].uses_devices = true;
  if (device->is_host() ||
      std::find(used_devices_.begin(), used_devices_.end(), device) != used_devices_.end())
    return;
  used_devices_.push_back(device);
  // Other runs share the streams: the first wait of a run is never implied.
  tickets_.resize(used_devices_.size() * kStreamKinds, 1);
  for (std::vector<int64_t>& seen : seen_) seen.resize(tickets_.size(), 0);
  seen_.resize(tickets_.size(), std::vector<int64_t>(tickets_.size(), 0));
}

int PlanBuilder::Stream(Device* device, int kind) {
  UseDevice(device);
  const auto it = std::find(used_devices_.begin(), used_devices_.end(), device);
  return static_cast<int>(it - used_devices_.begin()) * kStreamKinds + kind;
}

// Whether a copy stream has to wait for the compute stream up to `ticket`, or has already. A step
// that may be skipped teaches nothing.
bool PlanBuilder::NeedsWait(int stream, int compute, int64_t ticket, int32_t alive) {
  if (seen_[stream][compute] >= ticket) return false;
  if (alive == 0 && !InLoop()) seen_[stream][compute] = tickets_[compute];
  return true;
}

absl::StatusOr<int32_t> PlanBuilder::OnDevice(NodeId reader, int32_t id, Device* device) {
  if (device != nullptr && device->is_host()) device = nullptr;
  if (value(id).device == device) return id;
  const auto made = copies_.find({id, device});
  if (made != copies_.end()) return made->second;
  int32_t copy;
  Device* const from = value(id).device;
  if (device == nullptr) {
    TENON_ASSIGN_OR_RETURN(copy, CopyToHost(reader, id));
  } else if (from == nullptr) {
    TENON_ASSIGN_OR_RETURN(copy, CopyToDevice(reader, id, device));
  } else if (CopiesDirectly(*from, *device)) {
    TENON_ASSIGN_OR_RETURN(copy, CopyBetween(reader, id, device));
  } else {
    TENON_ASSIGN_OR_RETURN(const int32_t on_host, OnHost(reader, id));
    TENON_ASSIGN_OR_RETURN(copy, CopyToDevice(reader, on_host, device));
  }
  copies_[{id, device}] = copy;
  copies_made_.emplace_back(id, device);
  const PlanValue& v = value(id);
  const int64_t bytes = v.shape != nullptr
                            ? v.shape->num_elements() * static_cast<int64_t>(DataTypeSize(v.dtype))
                            : -1;
  plan_->copies.push_back(
      {v.output, from != nullptr ? from : in_.host, device != nullptr ? device : in_.host, bytes});
  return copy;
}

absl::StatusOr<int32_t> PlanBuilder::CopyToDevice(NodeId, int32_t id, Device* device) {
  PlanValue copy = value(id);
  if (!IsMemcpyable(copy.dtype)) {
    return absl::UnimplementedError(absl::StrCat(
        "a ", DataTypeName(copy.dtype), " value cannot be copied to ", device->short_name()));
  }
  const int32_t storage = value(id).constant != nullptr ? -1 : value(id).storage;
  const int stream = Stream(device, kHostToDevice), compute = Stream(device, kCompute);
  copy.device = device;
  if (storage < 0) {
    // What only this plan knows goes with it.
    TENON_ASSIGN_OR_RETURN(
        Tensor on_device, copy.graph_constant
                              ? in_.constants.OnDevice(*copy.constant, device, in_.device_timeout_s)
                              : CopyOnDevice(*copy.constant, *device, in_.device_timeout_s));
    plan_->alias_constants.push_back(std::make_unique<Tensor>(std::move(on_device)));
    copy.constant = plan_->alias_constants.back().get();
    copy.storage = -1;
    values_.push_back(std::move(copy));
    return static_cast<int32_t>(values_.size()) - 1;
  }
  // The target's memory may have been read by what is queued on the compute stream.
  std::vector<StreamWait> waits;
  if (NeedsWait(stream, compute, tickets_[compute], copy.alive))
    waits.push_back({HandleOf(device, kHostToDevice), HandleOf(device, kCompute)});
  return AddArrival(id, device, std::move(waits));
}

// The step that copies a value to `to`, from the host or from another device.
int32_t PlanBuilder::AddArrival(int32_t id, Device* to, std::vector<StreamWait> waits) {
  PlanValue copy = value(id);
  const int32_t source = copy.storage;
  Device* const from = copy.device;
  held_.push_back(source);  // the copy may read it any time until the device is synchronized
  copy.device = to;
  copy.storage = NewSlot();
  copy.ticket = 0;
  copy.event = plan_->num_events++;
  AddSlowStep(copy.output.node,
              std::make_unique<CopyStep>(
                  from == nullptr ? CopyStep::Direction::kToDevice : CopyStep::Direction::kBetween,
                  from == nullptr ? to : from, to, std::move(waits), InputOf(id), StepInput(),
                  storages_[copy.storage].index, copy.event),
              copy.alive, {source}, {copy.storage});
  values_.push_back(std::move(copy));
  return static_cast<int32_t>(values_.size()) - 1;
}

// The value as a tensor of the run, for steps that cannot do with a constant in a device's memory.
int32_t PlanBuilder::InSlot(NodeId reader, int32_t id) {
  if (value(id).storage >= 0) return id;
  PlanValue copy = value(id);
  const Tensor& constant = *copy.constant;
  copy.constant = nullptr;
  copy.graph_constant = false;
  copy.storage = NewSlot();
  AddSlowStep(reader, std::make_unique<ConstantStep>(constant, storages_[copy.storage].index),
              copy.alive, {}, {copy.storage});
  values_.push_back(std::move(copy));
  return static_cast<int32_t>(values_.size()) - 1;
}

// What work on the device's compute stream makes: this step's, or earlier work for a variable.
void PlanBuilder::ComputedOn(Device* device, PlanValue& v) {
  v.device = device;
  v.ticket = ++tickets_[Stream(device, kCompute)];
}

// The host waits for a copy to a device before anything is queued there that reads it, as in
// TensorFlow: a kernel may work at once, without its stream. Once is enough, but for steps that may
// be skipped.
void PlanBuilder::AwaitArrival(NodeId reader, int32_t id) {
  PlanValue& v = value(id);
  if (v.event < 0) return;
  const std::string_view node = in_.graph.name(reader != kNoNode ? reader : v.output.node);
  const int32_t alive = reader != kNoNode ? node_alive_[reader] : v.alive;
  AddSlowStep(reader, std::make_unique<WaitStep>(v.event, v.device->plugin(), node), alive,
              {v.storage}, {});
  if (alive == 0 && !InLoop()) v.event = -1;
}

absl::StatusOr<int32_t> PlanBuilder::CopyToHost(NodeId reader, int32_t id) {
  AwaitArrival(reader, id);
  id = InSlot(reader, id);
  PlanValue copy = value(id);
  Device* const device = copy.device;
  const int32_t source = copy.storage;
  const int stream = Stream(device, kDeviceToHost);
  std::vector<StreamWait> waits;
  if (NeedsWait(stream, Stream(device, kCompute), copy.ticket, copy.alive))
    waits.push_back({HandleOf(device, kDeviceToHost), HandleOf(device, kCompute)});
  copy.device = nullptr;
  copy.event = -1;
  int32_t slot = -1;
  if (copy.shape != nullptr) {
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(copy.dtype, *copy.shape));
    copy.storage = NewStorage(Where::kArena, bytes);
  } else {
    copy.storage = NewSlot();
    slot = storages_[copy.storage].index;
  }
  const int32_t event = plan_->num_events++;
  AddSlowStep(copy.output.node,
              std::make_unique<CopyStep>(
                  CopyStep::Direction::kToHost, device, nullptr, std::move(waits), InputOf(id),
                  StepInput{copy.storage, copy.dtype, ShapeOf(copy)}, slot, event),
              copy.alive, {source}, {copy.storage});
  // The source must outlive the copy: the wait reads it too.
  const std::string_view node = in_.graph.name(reader != kNoNode ? reader : copy.output.node);
  AddSlowStep(reader, std::make_unique<WaitStep>(event, device->plugin(), node), copy.alive,
              {source}, {copy.storage});
  values_.push_back(std::move(copy));
  return static_cast<int32_t>(values_.size()) - 1;
}

absl::StatusOr<int32_t> PlanBuilder::CopyBetween(NodeId reader, int32_t id, Device* to) {
  AwaitArrival(reader, id);
  id = InSlot(reader, id);
  const PlanValue& v = value(id);
  Device* const device = v.device;
  const int stream = Stream(device, kDeviceToDevice), target = Stream(to, kCompute);
  std::vector<StreamWait> waits;
  const StreamHandle handle = HandleOf(device, kDeviceToDevice);
  if (NeedsWait(stream, Stream(device, kCompute), v.ticket, v.alive))
    waits.push_back({handle, HandleOf(device, kCompute)});
  if (NeedsWait(stream, target, tickets_[target], v.alive))
    waits.push_back({handle, HandleOf(to, kCompute)});
  return AddArrival(id, to, std::move(waits));
}

// What the op's shape function knows: lets CPU steps behind the device be planned.
void PlanBuilder::InferShapes(NodeId n) {
  const NodeKind& kind = in_.graph.kind(n);
  std::vector<TensorInfo> infos;
  for (const Output& from : in_.graph.data_inputs(n)) {
    const PlanValue& v = value(ValueOf(from));
    TensorInfo& info = infos.emplace_back();
    if (v.shape != nullptr && !v.reference) info.shape = *v.shape;
    if (v.constant != nullptr && v.device == nullptr &&
        v.constant->num_elements() <= kMaxShapeValueElements) {
      info.value = std::shared_ptr<const Tensor>(std::shared_ptr<const Tensor>(), v.constant);
    }
  }
  std::vector<const TensorInfo*> inputs;
  for (const TensorInfo& info : infos) inputs.push_back(&info);
  InferenceContext context(*kind.op, kind.attrs, kind.types, std::move(inputs));
  context.set_node(in_.graph.name(n));
  if (!RunShapeFn(context, in_.graph.name(n)).ok()) return;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i) {
    PlanValue& v = value(first_value_[n] + i);
    if (v.reference) continue;  // a handle, whatever it refers to
    std::optional<Shape> shape = context.output(i).shape.ToShape();
    v.shape = shape.has_value() ? Known(*std::move(shape)) : nullptr;
  }
}

absl::Status PlanBuilder::AddPluginKernel(NodeId n, Device* device) {
  TENON_ASSIGN_OR_RETURN(const KernelDef* def, in_.kernels.Find(in_.graph, n, *device));
  TENON_ASSIGN_OR_RETURN(PluginKernel * kernel, in_.kernels.Create(in_.graph, n, device));
  UseDevice(device);
  if (in_.promises.Believed(in_.graph, n)) InferShapes(n);
  const bool on_host = device->is_host();
  const NodeTypes& types = in_.graph.kind(n).types;
  const MemoryTypes& memory = kernel->memory();
  const std::span<const Output> sources = in_.graph.data_inputs(n);
  std::vector<PluginStep::Input> inputs(sources.size());
  absl::InlinedVector<int32_t, 4> reads, writes;
  std::vector<int32_t> ids;
  for (size_t i = 0; i < sources.size(); ++i) {
    inputs[i].on_host = on_host || LiesOnHost(types.inputs[i], memory.input_on_host[i]);
    TENON_ASSIGN_OR_RETURN(
        const int32_t id, InputValue(n, static_cast<int>(i), inputs[i].on_host ? nullptr : device));
    ids.push_back(id);
  }
  for (const int32_t id : ids) AwaitArrival(n, id);
  for (size_t i = 0; i < sources.size(); ++i) {
    const PlanValue& v = value(ids[i]);
    PluginStep::Input& input = inputs[i];
    input.from = InputOf(ids[i]);
    if (v.constant != nullptr && v.storage < 0) {
      if (v.device == nullptr) {
        TENON_ASSIGN_OR_RETURN(const Tensor readable, in_.constants.Aligned(*v.constant));
        TENON_ASSIGN_OR_RETURN(input.constant, Aligned(readable));
      } else {
        input.constant = *v.constant;
      }
    }
    reads.push_back(v.storage);
  }
  const int64_t ticket = on_host ? 0 : ++tickets_[Stream(device, kCompute)];
  std::vector<int32_t> slots;
  std::vector<std::optional<Shape>> promised;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i) {
    PlanValue& v = value(first_value_[n] + i);
    v.storage = NewSlot();
    if (!on_host && !LiesOnHost(types.outputs[i], memory.output_on_host[i])) {
      v.device = device;
      v.ticket = ticket;
    }
    writes.push_back(v.storage);
    slots.push_back(storages_[v.storage].index);
    promised.push_back(ShapeOf(v));
  }
  auto step = std::make_unique<PluginStep>(kernel, device, std::move(inputs), slots,
                                           std::move(promised), def->plugin);
  PluginStep* raw = AddSlowStep(n, std::move(step), node_alive_[n], reads, writes);
  steps_.back().plugin = raw;
  return absl::OkStatus();
}

}  // namespace tenon
