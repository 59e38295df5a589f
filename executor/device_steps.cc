#include "executor/device_steps.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "executor/aligned.h"
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

absl::Status PluginStep::Run(Frame& frame, const StepArgs&) const {
  TENON_RETURN_IF_ERROR(Wait(*device_, waits_));
  absl::InlinedVector<Tensor, 4> inputs(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].storage < 0) {
      inputs[i] = constants_[i];
    } else if (may_take_[i]) {
      inputs[i] = frame.TakeSlot(inputs_[i]);
    } else {
      // A kernel may keep or forward what it gets: planned memory is copied.
      TENON_ASSIGN_OR_RETURN(inputs[i], frame.Keep(inputs_[i]));
    }
    // Feeds and parts of tensors lie anywhere.
    const bool on_host = device_->is_host() || kernel_->memory().input_on_host[i];
    if (on_host && !IsAligned(inputs[i])) {
      TENON_ASSIGN_OR_RETURN(inputs[i], inputs[i].Copy());
    }
  }
  absl::InlinedVector<Tensor, 2> outputs(outputs_.size());
  ComputeArgs args;
  args.device = device_->is_host() ? nullptr : device_;
  args.inputs = {inputs.data(), inputs.size()};
  args.outputs = {outputs.data(), outputs.size()};
  args.step_id = frame.context().step_id;
  args.timeout_s = frame.context().device_timeout_s;
  TENON_RETURN_IF_ERROR(kernel_->Compute(args));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (promised_[i].has_value() && outputs[i].shape() != *promised_[i]) {
      return absl::InternalError(absl::StrCat(
          "plug-in ", plugin_, ": output ", i, " has shape ", outputs[i].shape().ToString(),
          " where the op's shape function says ", promised_[i]->ToString()));
    }
    frame.SetSlot(outputs_[i], std::move(outputs[i]));
  }
  return absl::OkStatus();
}

std::string PluginStep::Describe() const {
  return absl::StrCat(device_->short_name(), device_->is_host() ? "" : " compute",
                      waits_.empty() ? "" : " after its copies");
}

StreamName PluginStep::Queues() const {
  if (device_->is_host()) return {};
  return {device_->short_name(), "compute"};
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
  TENON_RETURN_IF_ERROR(Wait(*device_, waits_));
  switch (direction_) {
    case Direction::kToDevice:
      return device_->CopyHostToDevice(device_->host_to_device_stream(), from, to);
    case Direction::kBetween:
      return device_->CopyDeviceToDevice(device_->device_to_device_stream(), from, to);
    case Direction::kToHost:
      break;
  }
  const StreamHandle stream = device_->device_to_host_stream();
  TENON_RETURN_IF_ERROR(device_->CopyDeviceToHost(stream, from, to));
  Frame::Event& event = frame.event(event_);
  TENON_ASSIGN_OR_RETURN(event.handle, device_->AcquireEvent());
  event.device = device_;
  return device_->RecordEvent(stream, event.handle);
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

StreamName CopyStep::Queues() const {
  constexpr std::string_view kStreams[] = {"host to device", "device to host", "device to device"};
  return {device_->short_name(), kStreams[static_cast<size_t>(direction_)]};
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
