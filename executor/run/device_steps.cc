// Calls of kernels of plug-ins, copies and waits. A call passes pointers to tensors that slots,
// feeds and constants hold; a tensor is made only for an input that lies in planned memory or is
// unaligned.

#include "executor/run/device_steps.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "executor/run/aligned.h"
#include "executor/run/shape_promises.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/tensor_guards.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/device/copy_scope.h"
#include "plugin/device/device_copy.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

// Of the compute stream with this number.
std::string_view ComputeStreamName(int number) {
  static constexpr std::array<std::string_view, kMostComputeStreams> kNames = {
      "compute",    "compute 1",  "compute 2",  "compute 3", "compute 4",  "compute 5",
      "compute 6",  "compute 7",  "compute 8",  "compute 9", "compute 10", "compute 11",
      "compute 12", "compute 13", "compute 14", "compute 15"};
  return kNames[number];
}

absl::Status Wait(Device& device, absl::Span<const StreamWait> waits) {
  for (const StreamWait& w : waits)
    TENON_RETURN_IF_ERROR(device.StreamWaitsForStream(w.waiting, w.other));
  return absl::OkStatus();
}

}  // namespace

PluginStep::PluginStep(PluginKernel* kernel, Device* device, std::vector<Input> inputs,
                       absl::Span<const int32_t> outputs,
                       std::vector<std::optional<Shape>> promised, std::string plugin)
    : kernel_(kernel),
      device_(device),
      streams_(ComputeStreams::Of(*device)),
      inputs_(std::move(inputs)),
      promised_(std::move(promised)),
      plugin_(std::move(plugin)) {
  const auto rank_of = [](const std::optional<Shape>& shape) {
    return shape.has_value() ? static_cast<uint8_t>(shape->rank()) : kAnyRank;
  };
  for (const Input& input : inputs_) {
    sources_.push_back({.dtype = input.from.dtype,
                        .where = Where::kConst,
                        .rank = rank_of(input.from.shape),
                        .on_host = input.on_host});
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    targets_.push_back({outputs[i], rank_of(promised_[i])});
}

absl::Status PluginStep::WaitForOthers(Frame& frame) const {
  for (const StreamWait& w : waits_) {
    if (w.event < 0) {
      TENON_RETURN_IF_ERROR(device_->StreamWaitsForStream(w.waiting, w.other));
    } else if (const EventHandle event = frame.event(w.event).handle; event != nullptr) {
      TENON_RETURN_IF_ERROR(streams_->StreamWaitsForEvent(w.waiting, event));
    }  // else the step that records it has failed
  }
  return absl::OkStatus();
}

StreamHandle PluginStep::stream() const {
  return stream_ == 0 ? device_->compute_stream() : streams_->compute_stream_at(stream_);
}

void PluginStep::WorkOn(int number, std::vector<StreamWait> waits) {
  stream_ = static_cast<uint8_t>(number);
  waits_ = std::move(waits);
  leaves_other_streams_ = number == 0 && std::ranges::any_of(inputs_, &Input::of_other_stream);
}

void PluginStep::Place(size_t i, const Storage& storage, bool last_use) {
  // A constant with a storage may be unaligned: MakeInput copies it. kConst stands for a constant
  // of this step.
  sources_[i].where = storage.where == Where::kConst ? Where::kNone : storage.where;
  sources_[i].index = storage.index;
  sources_[i].last_use = last_use;
  // With the ABI watch on, each host input gets memory of its own between guard zones: MakeInput.
  if (AbiWatch::Active() != nullptr && sources_[i].on_host) sources_[i].where = Where::kNone;
}

inline void PluginStep::Prefetch() const {
  __builtin_prefetch(&targets_);
  kernel_->Prefetch();
}

inline const Tensor* PluginStep::Find(Frame& frame, const Source& source, size_t i) const {
  const Tensor* found = nullptr;
  if (source.where == Where::kSlot) {
    found = &frame.slot(source.index);
  } else if (source.where == Where::kFeed) {
    found = &frame.feed(source.index);
  } else if (source.where == Where::kConst) {
    found = &inputs_[i].constant;
  } else {
    return nullptr;
  }
  const bool same_shape =
      source.rank == kAnyRank || (source.rank == found->shape().rank() &&
                                  (source.rank == 0 || *inputs_[i].from.shape == found->shape()));
  return same_shape && found->dtype() == source.dtype && (!source.on_host || IsAligned(*found))
             ? found
             : nullptr;
}

absl::Status PluginStep::MakeInput(Frame& frame, Frame::PluginCall& call, size_t i) const {
  const Input& input = inputs_[i];
  if (call.made.size() <= i) call.made.resize(inputs_.size());
  Tensor& made = call.made[i];
  if (input.from.storage < 0) {
    made = input.constant;
  } else if (sources_[i].last_use) {
    made = frame.TakeSlot(input.from);
  } else {
    // A kernel may keep or forward what it gets: planned memory is copied.
    TENON_ASSIGN_OR_RETURN(made, frame.Keep(input.from));
  }
  // Feeds and parts of tensors may be unaligned.
  if (input.on_host && !IsAligned(made)) {
    TENON_ASSIGN_OR_RETURN(made, made.Copy());
  }
  if (input.on_host && AbiWatch::Active() != nullptr) {
    TENON_ASSIGN_OR_RETURN(made, Guarded(std::move(made)));
  }
  call.inputs[i] = {&made, true};
  return absl::OkStatus();
}

[[gnu::always_inline]] inline absl::Status PluginStep::Gather(Frame& frame,
                                                              Frame::PluginCall& call) const {
  const size_t num_inputs = sources_.size();
  if (call.inputs.size() < num_inputs) call.inputs.resize(num_inputs);
  const Source* const sources = sources_.data();
  ComputeArgs::Input* const inputs = call.inputs.data();
  for (size_t i = 0; i < num_inputs; ++i) {
    if (const Tensor* const found = Find(frame, sources[i], i)) [[likely]] {
      // A kernel changes only what nobody else reads: no feed and no constant.
      inputs[i] = {const_cast<Tensor*>(found), sources[i].last_use};
    } else {
      call.args.inputs = {inputs, i};
      TENON_RETURN_IF_ERROR(MakeInput(frame, call, i));
    }
  }
  call.args.inputs = {inputs, num_inputs};
  FindOutputs(frame, call);
  call.args.step_id = frame.context().step_id;
  call.args.timeout_s = frame.context().device_timeout_s;
  call.args.frame_id = frame.pass().frame_id;
  call.args.iter_id = frame.pass().iter_id;
  call.args.streams = streams_;
  call.args.stream = stream_;
  return absl::OkStatus();
}

[[gnu::always_inline]] inline void PluginStep::FindOutputs(Frame& frame,
                                                           Frame::PluginCall& call) const {
  const size_t num_outputs = targets_.size();
  if (call.outputs.size() < num_outputs) call.outputs.resize(num_outputs);
  const Target* const targets = targets_.data();
  for (size_t i = 0; i < num_outputs; ++i) {
    Tensor* const output = call.outputs[i] = frame.SlotToFill(targets[i].slot);
    if (output->initialized()) output->Clear();  // of an earlier pass
  }
  call.args.outputs = {call.outputs.data(), num_outputs};
}

inline bool PluginStep::KeepsPromise(size_t i, const Shape& shape) const {
  const uint8_t rank = targets_[i].rank;
  return rank == kAnyRank || (rank == shape.rank() && (rank == 0 || *promised_[i] == shape));
}

absl::Status PluginStep::Run(Frame& frame, const StepArgs&) const {
  // What a call reads lies scattered in memory: a cache miss for each part would take as long as
  // the rest of the call.
  if (next_ != nullptr) next_->Prefetch();
  if (!waits_.empty()) [[unlikely]]
    TENON_RETURN_IF_ERROR(WaitForOthers(frame));
  Frame::PluginCall& call = frame.plugin_call();
  absl::Status status = Gather(frame, call);
  if (status.ok()) [[likely]] {
    if (call.context == nullptr) call.context = NewContext();
    status = kernel_->Compute(call.args, call.context);
    if (leaves_other_streams_ && status.ok()) [[unlikely]]
      status = LeaveOtherStreams(call);
    if (event_ >= 0 && status.ok()) [[unlikely]]
      status = RecordEvent(frame);
  }
  LetGo(call);
  return status.ok() ? TakeOutputs(frame) : status;
}

// The end of the run gives the event back.
absl::Status PluginStep::RecordEvent(Frame& frame) const {
  Frame::Event& event = frame.event(event_);
  TENON_ASSIGN_OR_RETURN(event.handle, device_->AcquireEvent());
  event.device = device_;
  return device_->RecordEvent(stream(), event.handle);
}

absl::Status PluginStep::LeaveOtherStreams(const Frame::PluginCall& call) const {
  const auto lies_in = [](const Tensor& output, const Tensor& input) {
    const auto* const begin = static_cast<const char*>(input.data());
    return output.data() >= begin && output.data() < begin + input.bytes();
  };
  for (Tensor* const output : call.args.outputs) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].of_other_stream || !lies_in(*output, *call.args.inputs[i].tensor)) continue;
      TENON_ASSIGN_OR_RETURN(BufferRef memory, device_->Allocate(output->bytes()));
      const Tensor own(output->dtype(), output->shape(), std::move(memory));
      TENON_RETURN_IF_ERROR(device_->CopyDeviceToDevice(stream(), *output, own));
      *output = own;
      break;
    }
  }
  return absl::OkStatus();
}

// Clears what the kernel could take, whether it did or not: the plan has no release for these
// slots.
inline void PluginStep::LetGo(const Frame::PluginCall& call) {
  for (const ComputeArgs::Input& input : call.args.inputs) {
    if (input.last_use) input.tensor->Clear();
  }
}

[[gnu::always_inline]] inline absl::Status PluginStep::TakeOutputs(Frame& frame) const {
  for (size_t i = 0, n = targets_.size(); i < n; ++i) {
    const int32_t slot = targets_[i].slot;
    const Shape& shape = frame.slot(slot).shape();
    if (!KeepsPromise(i, shape)) [[unlikely]] {
      const absl::Status broken = absl::InternalError(
          absl::StrCat("plug-in ", plugin_, ": output ", i, " has shape ", shape.ToString(),
                       " where the op's shape function says ", promised_[i]->ToString()));
      return BrokenPromise(frame.node(), broken);
    }
    frame.SlotFilled(slot);
  }
  return absl::OkStatus();
}

std::string PluginStep::Describe() const {
  if (device_->is_host()) return device_->short_name();
  std::string text = absl::StrCat(device_->short_name(), " ", ComputeStreamName(stream_));
  for (const StreamWait& wait : waits_) {
    int other = 0;
    if (wait.other != device_->compute_stream())
      while (streams_->compute_stream_at(++other) != wait.other) {
      }
    absl::StrAppend(&text, &wait == waits_.data() ? " behind " : ", ", ComputeStreamName(other));
  }
  return text;
}

StreamOf PluginStep::Queues() const {
  if (device_->is_host()) return {};
  return {device_, stream(), ComputeStreamName(stream_)};
}

absl::Status AsyncStep::Run(Frame& frame, const StepArgs&) const {
  TENON_RETURN_IF_ERROR(WaitForOthers(frame));
  Frame::PluginCall& call = frame.plugin_call();
  absl::Status status = Gather(frame, call);
  if (status.ok()) frame.BeginCall(number_, this, kernel_->Begin(call.args));
  LetGo(call);
  return status;
}

absl::Status AsyncStep::End(Frame& frame, ContextPtr call) const {
  Frame::PluginCall& outputs = frame.plugin_call();
  // Other steps have used the frame's PluginCall since the call began.
  FindOutputs(frame, outputs);
  TENON_RETURN_IF_ERROR(kernel_->End(std::move(call), outputs.args.outputs));
  return TakeOutputs(frame);
}

absl::StatusOr<Tensor> CopyStep::HostTarget(const Frame& frame, const Tensor& from) const {
  if (AbiWatch::Active() == nullptr) return AllocateForCopyFrom(*device_, from);
  Tensor target;
  TENON_RETURN_IF_ERROR(BecomeGuarded(target, from.dtype(), from.shape()));
  {
    const std::string node(frame.plan().graph->name(frame.node()));
    TensorGuards::Get().Check(nullptr, target.data(),
                              {std::string(device_->plugin()), "memcpy_dtoh", node, "the target"});
  }
  return target;
}

absl::StatusOr<Tensor> CopyStep::Target(Frame& frame, const Tensor& from) const {
  if (slot_ < 0) return frame.View(to_);
  if (direction_ == Direction::kToHost) return HostTarget(frame, from);
  Device& device = direction_ == Direction::kBetween ? *target_ : *device_;
  TENON_ASSIGN_OR_RETURN(BufferRef buffer,
                         orders_itself_ && from.bytes() > 0
                             ? device.AllocateForArrival(Queues().stream, from.bytes())
                             : device.Allocate(from.bytes()));
  return Tensor(from.dtype(), from.shape(), std::move(buffer));
}

// Kernels of other runs may still use what is now the target, if these runs gave it back since the
// stream last waited: `waits` know this run alone.
absl::Status CopyStep::WaitForTarget(StreamHandle stream) const {
  if (direction_ == Direction::kToHost || orders_itself_) return absl::OkStatus();
  Device& owner = direction_ == Direction::kBetween ? *target_ : *device_;
  const StreamHandle users = owner.compute_stream();
  const bool waits = std::ranges::find(waits_, users, &StreamWait::other) != waits_.end();
  if (waits || !owner.has_several_runs()) return absl::OkStatus();
  return device_->StreamWaitsForStream(stream, users);
}

absl::Status CopyStep::Run(Frame& frame, const StepArgs& args) const {
  const Tensor from = frame.View(from_);
  if (!from.initialized()) return absl::InternalError("the value to copy is not there");
  TENON_ASSIGN_OR_RETURN(Tensor to, Target(frame, from));
  // The slot is set first: it keeps the memory until the device is done, even if a call below
  // fails.
  if (slot_ >= 0) frame.SetSlot(slot_, to);
  if (from.bytes() == 0) {
    frame.NoteEmptyCopy();
    // Later copies count on the order between streams that this step makes.
    return Wait(*device_, waits_);
  }
  Frame::Event& event = frame.event(event_);
  if (event.handle != nullptr) {  // of an earlier pass, in which no step has waited for the copy
    TENON_RETURN_IF_ERROR(
        event.device->BlockUntilComplete(event.handle, frame.context().device_timeout_s));
    event.device->ReleaseEvent(event.handle);
    event = Frame::Event();
  }
  TENON_RETURN_IF_ERROR(Wait(*device_, waits_));
  const StreamHandle stream = Queues().stream;
  TENON_RETURN_IF_ERROR(WaitForTarget(stream));
  const auto loop = [&args](int64_t n, absl::FunctionRef<void(int64_t)> body) {
    args.workers->ParallelFor(n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    });
  };
  const CopyScope scope(frame.context().device_timeout_s, args.workers->threads(), loop);
  TENON_RETURN_IF_ERROR(Queue(stream, from, to));
  TENON_ASSIGN_OR_RETURN(event.handle, device_->AcquireEvent());
  event.device = device_;
  return device_->RecordEvent(stream, event.handle);
}

absl::Status CopyStep::Queue(StreamHandle stream, const Tensor& from, const Tensor& to) const {
  switch (direction_) {
    case Direction::kToDevice:
      return device_->CopyHostToDevice(stream, from, to);
    case Direction::kToHost:
      return device_->CopyDeviceToHost(stream, from, to);
    case Direction::kBetween:
      break;
  }
  return device_->CopyDeviceToDevice(stream, from, to);
}

std::string CopyStep::Describe() const {
  switch (direction_) {
    case Direction::kToDevice:
      return absl::StrCat("copy host -> ", device_->short_name());
    case Direction::kToHost:
      return absl::StrCat("copy ", device_->short_name(), " -> host");
    case Direction::kBetween:
      break;
  }
  return absl::StrCat("copy ", device_->short_name(), " -> ", target_->short_name());
}

StreamOf CopyStep::Queues() const {
  switch (direction_) {
    case Direction::kToDevice:
      return {device_, device_->host_to_device_stream(), "host to device"};
    case Direction::kToHost:
      return {device_, device_->device_to_host_stream(), "device to host"};
    case Direction::kBetween:
      break;
  }
  return {device_, device_->device_to_device_stream(), "device to device"};
}

absl::Status WaitStep::Run(Frame& frame, const StepArgs&) const {
  Frame::Event& event = frame.event(event_);
  if (event.handle == nullptr) return absl::OkStatus();  // nothing was copied: no bytes
  Device* const device = event.device;
  const CallbackScope waiting(plugin_.c_str(), "get_event_status", node_);
  const Pause pause;
  absl::Status status = device->BlockUntilComplete(event.handle, frame.context().device_timeout_s);
  if (status.ok()) {
    device->ReleaseEvent(event.handle);
    event = Frame::Event();
  }
  return status;
}

}  // namespace tenon
