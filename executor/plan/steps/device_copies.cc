// A value is copied once to each device that reads it. A copy to a device is only queued, and
// AwaitArrival puts the wait in front of a reader. A copy to the host is queued behind the step
// that makes the value, and its wait stands in front of the first reader.

#include "executor/plan/steps/device_copies.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/abi_watch.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/device/device_copy.h"

namespace tenon {
namespace {

// A copy of so many bytes takes longer than the event that tells when its target's memory is idle.
constexpr int64_t kLargeArrivalBytes = int64_t{128} << 10;

// Whether the devices copy to each other. A plug-in copies between its own devices of one type
// only; devices that two plug-ins bring under one type name go by way of the host, as all others
// do.
bool CopiesDirectly(const Device& from, const Device& to) {
  return from.type() == to.type() && from.plugin() == to.plugin() && from.copies_between();
}

}  // namespace

absl::StatusOr<int32_t> DeviceCopies::OnDevice(NodeId reader, int32_t id, Device* device) {
  if (device != nullptr && device->is_host()) device = nullptr;
  Device* const from = steps_.value(id).device;
  if (from == device) return id;
  if (const int32_t* made = copies_.Find({id, device})) return *made;
  TENON_ASSIGN_OR_RETURN(const int32_t copy, Copy(reader, id, device));
  copies_.Add({id, device}, copy);
  const PlanValue& v = steps_.value(id);
  const int64_t bytes = v.shape != nullptr
                            ? v.shape->num_elements() * static_cast<int64_t>(DataTypeSize(v.dtype))
                            : -1;
  steps_.graph().copies.push_back(
      {v.output, from != nullptr ? from : in_.host, device != nullptr ? device : in_.host, bytes});
  return copy;
}

absl::StatusOr<int32_t> DeviceCopies::Copy(NodeId reader, int32_t id, Device* to) {
  Device* const from = steps_.value(id).device;
  if (to == nullptr) return CopyToHost(reader, id);
  if (from == nullptr) return CopyToDevice(id, to);
  if (CopiesDirectly(*from, *to)) return CopyBetween(reader, id, to);
  TENON_ASSIGN_OR_RETURN(const int32_t on_host, OnHost(reader, id));
  return CopyToDevice(on_host, to);
}

absl::StatusOr<int32_t> DeviceCopies::CopyToDevice(int32_t id, Device* device) {
  const PlanValue& v = steps_.value(id);
  if (!IsMemcpyable(v.dtype)) {
    return absl::UnimplementedError(absl::StrCat(
        "a ", DataTypeName(v.dtype), " value cannot be copied to ", device->short_name()));
  }
  streams_.Use(device);
  if (v.constant != nullptr) return ConstantOnDevice(id, device);
  if (IsLargeArrival(v)) return AddArrival(id, device, {}, /*orders_itself=*/true);
  // Memory of the compute stream is reused in the order of that stream: kernels that are queued
  // there may still read what is now the target.
  std::vector<StreamWait> waits;
  streams_.WaitFor({device, StreamKind::kHostToDevice}, {device}, streams_.LastTicket({device}),
                   v.alive, waits);
  return AddArrival(id, device, std::move(waits));
}

// A constant of the graph is copied once for all plans; one that only this plan knows belongs to
// the plan.
absl::StatusOr<int32_t> DeviceCopies::ConstantOnDevice(int32_t id, Device* device) {
  PlanValue copy = steps_.value(id);
  TENON_ASSIGN_OR_RETURN(Tensor on_device,
                         copy.graph_constant
                             ? in_.constants.OnDevice(*copy.constant, device, in_.device_timeout_s)
                             : CopyOnDevice(*copy.constant, *device, in_.device_timeout_s));
  std::vector<std::unique_ptr<Tensor>>& kept = steps_.graph().resources.own_constants;
  kept.push_back(std::make_unique<Tensor>(std::move(on_device)));
  copy.constant = kept.back().get();
  copy.device = device;
  copy.storage = -1;
  return steps_.AddValue(std::move(copy));
}

int32_t DeviceCopies::AddArrival(int32_t id, Device* to, std::vector<StreamWait> waits,
                                 bool orders_itself) {
  StepGraph& graph = steps_.graph();
  PlanValue copy = steps_.value(id);
  const int32_t source = copy.storage;
  Device* const from = copy.device;
  graph.held.push_back(source);  // the copy may read it any time until the device is synchronized
  copy.device = to;
  copy.storage = steps_.NewSlot();
  copy.stream = 0;
  copy.ticket = 0;
  copy.event = graph.num_events++;
  unawaited_[copy.storage] = {copy.alive, graph.open_loop};
  auto step = std::make_unique<CopyStep>(
      from == nullptr ? CopyStep::Direction::kToDevice : CopyStep::Direction::kBetween,
      from == nullptr ? to : from, to, std::move(waits), steps_.InputOf(id), StepInput(),
      steps_.SlotOf(copy.storage), copy.event, orders_itself);
  steps_.AddSlowStep(copy.output.node, std::move(step), copy.alive, {source}, {copy.storage});
  return steps_.AddValue(std::move(copy));
}

int32_t DeviceCopies::InSlot(NodeId reader, int32_t id) {
  if (steps_.value(id).storage >= 0) return id;
  PlanValue copy = steps_.value(id);
  const Tensor& constant = *copy.constant;  // in StepGraph::resources or the store, not in `copy`
  copy.constant = nullptr;
  copy.graph_constant = false;
  copy.storage = steps_.NewSlot();
  steps_.AddSlowStep(reader, std::make_unique<ConstantStep>(constant, steps_.SlotOf(copy.storage)),
                     copy.alive, {}, {copy.storage});
  return steps_.AddValue(std::move(copy));
}

void DeviceCopies::ComputedOn(Device* device, PlanValue& v) {
  v.device = device;
  v.stream = 0;
  v.ticket = streams_.NextTicket({device});
}

void DeviceCopies::ReadOnStream(int32_t id, const DeviceStream& stream, int32_t alive,
                                std::vector<StreamWait>& waits) {
  const PlanValue& v = steps_.value(id);
  // Constants stay, and what has no stream lies in memory of the first.
  if (v.constant != nullptr || v.stream == stream.number) return;
  streams_.WaitForWork(stream, {v.device, StreamKind::kCompute, v.stream}, v.ticket, alive, waits);
  steps_.graph().held.push_back(v.storage);
}

// The wait counts as a writer, so that readers come after it where steps run at the same time. One
// wait is enough for all readers, unless the step that waits may be skipped, or the copy is
// made again in another pass.
void DeviceCopies::AwaitArrival(NodeId reader, int32_t id) {
  PlanValue& v = steps_.value(id);
  if (v.event < 0) return;
  const int32_t alive = steps_.graph().node_alive[reader];
  steps_.AddSlowStep(
      reader, std::make_unique<WaitStep>(v.event, v.device->plugin(), in_.graph.name(reader)),
      alive, {v.storage}, {v.storage});
  const auto copied = unawaited_.find(v.storage);
  if (copied != unawaited_.end() && copied->second.loop == steps_.graph().open_loop &&
      steps_.graph().flags.Implies(copied->second.alive, alive))
    unawaited_.erase(copied);
  if (alive == FlagTree::kAlways && !steps_.InLoop()) v.event = -1;
}

bool DeviceCopies::IsLargeArrival(const PlanValue& v) const {
  return v.shape != nullptr && IsMemcpyable(v.dtype) &&
         v.shape->num_elements() >=
             kLargeArrivalBytes / static_cast<int64_t>(DataTypeSize(v.dtype));
}

// Integers are left out: kernels want many of them in host memory.
void DeviceCopies::FindFeeds() {
  feeds_.emplace();
  absl::flat_hash_set<std::pair<int32_t, Device*>> found;
  for (const NodeId n : in_.schedule.order) {
    Device* const device = in_.devices[n];
    if (in_.fed_only[n] || device->is_host() || !device->has_streams()) continue;
    for (const Output& from : in_.graph.data_inputs(n)) {
      if (from.node == kNoNode) continue;
      const int32_t id = steps_.graph().ValueOf(from);
      const PlanValue& v = steps_.value(id);
      if (v.fed && v.device == nullptr && v.constant == nullptr && IsFloating(v.dtype) &&
          IsLargeArrival(v) && found.insert({id, device}).second)
        feeds_->push_back({id, device});
    }
  }
}

absl::Status DeviceCopies::QueueNextFeed(NodeId reader, Device* device) {
  if (steps_.InLoop()) return absl::OkStatus();
  if (!feeds_.has_value()) FindFeeds();
  for (; next_feed_ < feeds_->size(); ++next_feed_) {
    const auto& [id, to] = (*feeds_)[next_feed_];
    if (copies_.Find({id, to}) != nullptr) continue;
    if (to != device) return absl::OkStatus();
    ++next_feed_;
    return OnDevice(reader, id, device).status();
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> DeviceCopies::CopyToHost(NodeId reader, int32_t id) {
  AwaitArrival(reader, id);  // the value may itself be a copy that has not arrived yet
  const auto begun = departures_.find(id);
  Departure copy;
  if (begun != departures_.end()) {
    copy = begun->second;
    departures_.erase(begun);
  } else {
    TENON_ASSIGN_OR_RETURN(copy, QueueToHost(InSlot(reader, id)));
  }
  const PlanValue& to = steps_.value(copy.to);
  // The wait counts as a reader of the source, which must live until the copy is complete, and as a
  // writer of the target, which later steps read.
  steps_.AddSlowStep(
      reader, std::make_unique<WaitStep>(copy.event, copy.device->plugin(), in_.graph.name(reader)),
      to.alive, {copy.source}, {to.storage});
  return copy.to;
}

void DeviceCopies::FindHostReads() {
  host_reads_.emplace();
  for (const NodeId n : in_.schedule.order) {
    const OpFacts& facts = in_.graph.facts(n);
    // Such a node may do with the shape, or give its input another one, wherever that lies.
    const bool may_not_read =
        IsControlFlow(facts) || facts.renames || facts.passes_memory || facts.metadata;
    if (in_.fed_only[n] || in_.devices[n] != in_.host || may_not_read) continue;
    for (const Output& from : in_.graph.data_inputs(n)) {
      if (from.node != kNoNode && in_.devices[from.node] != in_.host) host_reads_->insert(from);
    }
  }
  for (const Output& fetch : in_.fetches) {
    if (!fetch.is_control()) host_reads_->insert(fetch);
  }
}

absl::Status DeviceCopies::BeginToHost(const Output& value) {
  if (!host_reads_.has_value()) FindHostReads();
  if (!host_reads_->contains(value)) return absl::OkStatus();
  const int32_t id = steps_.graph().ValueOf(value);
  const PlanValue& v = steps_.value(id);
  const bool fits = v.device != nullptr && v.storage >= 0 && !v.fed && v.event < 0 &&
                    v.alive == FlagTree::kAlways && !steps_.InLoop() && IsMemcpyable(v.dtype);
  if (!fits) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(departures_[id], QueueToHost(id));
  return absl::OkStatus();
}

void DeviceCopies::HoldUnawaited() {
  for (const auto& [id, copy] : departures_) {
    steps_.graph().held.push_back(copy.source);
    steps_.graph().held.push_back(steps_.value(copy.to).storage);
  }
  for (const auto& [target, copied] : unawaited_) steps_.graph().held.push_back(target);
}

absl::StatusOr<DeviceCopies::Departure> DeviceCopies::QueueToHost(int32_t id) {
  PlanValue copy = steps_.value(id);
  Device* const device = copy.device;
  const int32_t source = copy.storage;
  std::vector<StreamWait> waits;
  streams_.WaitFor({device, StreamKind::kDeviceToHost}, {device, StreamKind::kCompute, copy.stream},
                   copy.ticket, copy.alive, waits);
  copy.device = nullptr;
  copy.stream = 0;
  copy.event = -1;
  int32_t slot = -1;
  // A large value may get memory of the device's, and with the ABI watch on the target gets memory
  // of its own between guard zones: neither lies in the arena.
  size_t bytes = 0;
  if (copy.shape != nullptr) {
    TENON_ASSIGN_OR_RETURN(bytes, TensorBytes(copy.dtype, *copy.shape));
  }
  if (copy.shape != nullptr && AbiWatch::Active() == nullptr &&
      !device->has_own_host_memory(bytes)) {
    copy.storage = steps_.NewStorage(Where::kArena, bytes);
  } else {
    copy.storage = steps_.NewSlot();
    slot = steps_.SlotOf(copy.storage);
  }
  const int32_t to = steps_.AddValue(copy);
  const int32_t event = steps_.graph().num_events++;
  auto step =
      std::make_unique<CopyStep>(CopyStep::Direction::kToHost, device, nullptr, std::move(waits),
                                 steps_.InputOf(id), steps_.InputOf(to), slot, event);
  steps_.AddSlowStep(copy.output.node, std::move(step), copy.alive, {source}, {copy.storage});
  return Departure{source, to, event, device};
}

absl::StatusOr<int32_t> DeviceCopies::CopyBetween(NodeId reader, int32_t id, Device* to) {
  AwaitArrival(reader, id);
  id = InSlot(reader, id);
  const PlanValue& v = steps_.value(id);
  std::vector<StreamWait> waits;
  const DeviceStream stream = {v.device, StreamKind::kDeviceToDevice};
  streams_.WaitFor(stream, {v.device, StreamKind::kCompute, v.stream}, v.ticket, v.alive, waits);
  streams_.WaitFor(stream, {to}, streams_.LastTicket({to}), v.alive, waits);
  return AddArrival(id, to, std::move(waits));
}

}  // namespace tenon
