// The streams of a plan's devices: the work that is queued on each, and the waits of each for other
// streams, so that the plan queues no wait that earlier waits imply.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

enum class StreamKind { kCompute, kHostToDevice, kDeviceToHost, kDeviceToDevice };
StreamHandle StreamOn(Device& device, StreamKind kind);

// Work on a compute stream has tickets: 2, 3, … in the order in which it is queued.
class DeviceStreams {
 public:
  explicit DeviceStreams(StepGraph& graph) : graph_(graph) {}

  // The plan, and the loops that are open, use the device. The host is no such device.
  void Use(Device* device);
  // Work comes to the compute stream in an order that the plan does not know: no wait is implied by
  // others.
  void UseInAnyOrder(Device* device) { unordered_.push_back(device); }
  // Of work that a step queues on the compute stream.
  int64_t NextTicket(Device* device);
  // Of what was queued there last.
  int64_t LastTicket(Device* device);
  // Lets a copy stream of `device` wait for the compute stream of `other` up to `ticket`, unless it
  // has already. `alive`: of the step that waits.
  void WaitForCompute(Device* device, StreamKind kind, Device* other, int64_t ticket, int32_t alive,
                      std::vector<StreamWait>& waits);

 private:
  size_t Index(Device* device, StreamKind kind);

  StepGraph& graph_;
  std::vector<int64_t> tickets_;            // by stream
  std::vector<std::vector<int64_t>> seen_;  // by stream: how far it has waited for each other one
  std::vector<const Device*> unordered_;
};

}  // namespace tenon
