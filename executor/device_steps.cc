#include "executor/device_steps.h"

#include "absl/strings/str_cat.h"
#include "executor/aligned.h"
#include "executor/shape_promises.h"
#include "graph/c_api/callback_scope.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

absl::Status Wait(Device& device, absl::Span<const StreamWait> waits) {
  for (const StreamWait& w : waits)
    TENON_RETURN_IF_ERROR(device.StreamWaitsForStream(w.waiting, w.other));
  return absl::OkStatus();
}

}  // namespace

// Slots, feeds and constants stay where they are, run after run.
void PluginStep::Bind(Frame& frame, Frame::PluginCall& call) const {
  call.found.clear();
  call.outputs.clear();
  for (const Input& input : inputs_) {
    // A kernel changes only what nobody else reads: no constant.
    const bool constant = input.from.storage < 0;
    call.found.push_back(constant ? const_cast<Tensor*>(&input.constant) : frame.Find(input.from));
  }
  for (const int32_t slot : outputs_) call.outputs.push_back(frame.SlotToFill(slot));
  call.made.resize(inputs_.size());
  call.inputs.resize(inputs_.size());
  call.args.inputs = call.inputs;
  call.args.outputs = call.outputs;
}

absl::Status PluginStep::MakeInput(Frame& frame, Frame::PluginCall& call, size_t i) const {
  const Input& input = inputs_[i];
  Tensor& made = call.made[i];
  if (input.from.storage < 0) {
    made = input.constant;
  } else if (input.last_use) {
    made = frame.TakeSlot(input.from);
  } else {
    // A kernel may keep or forward what it gets: planned memory is copied.
    TENON_ASSIGN_OR_RETURN(made, frame.Keep(input.from));
  }
  // Feeds and parts of tensors lie anywhere.
  if (input.on_host && !IsAligned(made)) {
    TENON_ASSIGN_OR_RETURN(made, made.Copy());
  }
  call.inputs[i] = {&made, true};
  return absl::OkStatus();
}

absl::Status PluginStep::Compute(Frame& frame, Frame::PluginCall& call) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    Tensor* const found = call.found[i];
    const bool as_wanted = found != nullptr && found->dtype() == input.from.dtype &&
                           (!input.from.shape || *input.from.shape == found->shape()) &&
                           (!input.on_host || IsAligned(*found));
    if (as_wanted) {
      call.inputs[i] = {found, input.last_use};
    } else {
      TENON_RETURN_IF_ERROR(MakeInput(frame, call, i));
    }
  }
  call.args.step_id = frame.context().step_id;
  call.args.timeout_s = frame.context().device_timeout_s;
  call.args.frame_id = frame.pass().frame_id;
  call.args.iter_id = frame.pass().iter_id;
  return kernel_->Compute(call.args);
}

absl::Status PluginStep::Run(Frame& frame, const StepArgs&) const {
  Frame::PluginCall& call = frame.plugin_call(call_);
  if (call.args.context == nullptr) Bind(frame, call);
  absl::Status status = Compute(frame, call);
  for (const ComputeArgs::Input& input : call.inputs) {
    if (input.last_use) input.tensor->Clear();
  }
  if (!status.ok()) return status;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Shape& shape = call.outputs[i]->shape();
    if (promised_[i].has_value() && shape != *promised_[i]) {
      const absl::Status broken = absl::InternalError(
          absl::StrCat("plug-in ", plugin_, ": output ", i, " has shape ", shape.ToString(),
                       " where the op's shape function says ", promised_[i]->ToString()));
      return BrokenPromise(frame.node(), broken);
    }
    frame.SlotFilled(outputs_[i]);
  }
  return absl::OkStatus();
}

std::string PluginStep::Describe() const {
  return absl::StrCat(device_->short_name(), device_->is_host() ? "" : " compute");
}

StreamOf PluginStep::Queues() const {
  if (device_->is_host()) return {};
  return {device_, device_->compute_stream(), "compute"};
}

absl::StatusOr<Tensor> CopyStep::Target(Frame& frame, const Tensor& from) const {
  if (slot_ < 0) return frame.View(to_);
  if (direction_ == Direction::kToHost) return Tensor::Allocate(from.dtype(), from.shape());
  Device& device = direction_ == Direction::kBetween ? *target_ : *device_;
  TENON_ASSIGN_OR_RETURN(BufferRef buffer, device.Allocate(from.bytes()));
  return Tensor(from.dtype(), from.shape(), std::move(buffer));
}

absl::Status CopyStep::Run(Frame& frame, const StepArgs&) const {
  const Tensor from = frame.View(from_);
  if (!from.initialized()) return absl::InternalError("the value to copy is not there");
  TENON_ASSIGN_OR_RETURN(Tensor to, Target(frame, from));
  // The slot first: it keeps the memory until the device is done, also if something below fails.
  if (slot_ >= 0) frame.SetSlot(slot_, to);
  if (from.bytes() == 0) return absl::OkStatus();
  Frame::Event& event = frame.event(event_);
  if (event.handle != nullptr) {  // of a pass in which nobody read the copy
    TENON_RETURN_IF_ERROR(
        event.device->BlockUntilComplete(event.handle, frame.context().device_timeout_s));
    event.device->ReleaseEvent(event.handle);
    event = Frame::Event();
  }
  TENON_RETURN_IF_ERROR(Wait(*device_, waits_));
  const StreamHandle stream = Queues().stream;
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
  absl::Status status = device->BlockUntilComplete(event.handle, frame.context().device_timeout_s);
  if (status.ok()) {
    device->ReleaseEvent(event.handle);
    event = Frame::Event();
  }
  return status;
}

}  // namespace tenon
