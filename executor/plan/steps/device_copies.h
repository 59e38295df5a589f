// Copies of values to the devices of their readers, with the waits that the copies need.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_streams.h"
#include "executor/plan/steps/scoped_map.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// `reader` is the node that wants the value. A null device is the host.
class DeviceCopies {
 public:
  DeviceCopies(const PlanInput& input, StepBuilder& steps)
      : in_(input), steps_(steps), streams_(steps.graph()) {}

  DeviceStreams& streams() { return streams_; }

  // The value on `device`: itself, or its copy, made once.
  absl::StatusOr<int32_t> OnDevice(NodeId reader, int32_t id, Device* device);
  absl::StatusOr<int32_t> OnHost(NodeId reader, int32_t id) {
    return OnDevice(reader, id, nullptr);
  }
  // The host waits for a copy to a device before anything is queued there that reads it, as in
  // TensorFlow: a kernel may work at once, without its stream.
  void AwaitArrival(NodeId reader, int32_t id);
  // The value as a tensor of the run, for steps that cannot do with a constant in a device's
  // memory.
  int32_t InSlot(NodeId reader, int32_t id);
  // `v` is what work on the device's compute stream makes: this step's, or earlier work for a
  // variable.
  void ComputedOn(Device* device, PlanValue& v);

  // Copies that are made from here on are not there behind a loop that begins here.
  size_t Now() const { return copies_.size(); }
  void ForgetSince(size_t mark) { copies_.Shrink(mark); }

 private:
  absl::StatusOr<int32_t> Copy(NodeId reader, int32_t id, Device* to);
  absl::StatusOr<int32_t> CopyToDevice(int32_t id, Device* device);
  absl::StatusOr<int32_t> ConstantOnDevice(int32_t id, Device* device);
  absl::StatusOr<int32_t> CopyToHost(NodeId reader, int32_t id);
  absl::StatusOr<int32_t> CopyBetween(NodeId reader, int32_t id, Device* to);
  int32_t AddArrival(int32_t id, Device* to, std::vector<StreamWait> waits);

  const PlanInput& in_;
  StepBuilder& steps_;
  DeviceStreams streams_;
  ScopedMap<std::pair<int32_t, Device*>, int32_t> copies_;  // by value and device
};

}  // namespace tenon
