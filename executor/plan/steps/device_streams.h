// The streams of a plan's devices: the work that is queued on each stream, and how far each stream
// has waited for the others, so that the plan queues no wait that earlier waits imply.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

enum class StreamKind { kCompute, kHostToDevice, kDeviceToHost, kDeviceToDevice };
// The device's stream of this kind; owned by the device, which must not be the host.
StreamHandle StreamOn(Device& device, StreamKind kind);

// Work that steps of the plan queue on a compute stream has tickets: for each stream 2, 3, … in the
// order in which the work is queued. Ticket 1 stands for the work of other runs, which share the
// streams. No device may be null, and Use alone may be given the host. NextTicket, LastTicket and
// WaitForCompute call Use for their devices. Not thread-safe.
class DeviceStreams {
 public:
  explicit DeviceStreams(StepGraph& graph) : graph_(graph) {}

  // Notes that the plan and the open loops use the device. Does nothing for the host.
  void Use(Device* device);
  // Notes that work comes to the device's compute stream in an order that the plan does not know,
  // as from asynchronous kernels: from now on WaitForCompute always adds a wait for this stream.
  void UseInAnyOrder(Device* device) { unordered_.push_back(device); }
  // A new ticket, for work that the step which is added next queues on the compute stream.
  int64_t NextTicket(Device* device);
  // The ticket of the work that the plan queued last on the device's compute stream; 1 without any.
  int64_t LastTicket(Device* device);
  // Adds to `waits` that the stream `kind` of `device` waits for all work that is now on the
  // compute stream of `other`, unless `ticket` is 0 (no work) or an earlier wait of the former
  // stream for the latter covers `ticket`; always adds it for `other` of UseInAnyOrder. A wait
  // covers all tickets that were given out before it. But the wait of a step that may be skipped
  // (`alive` is the step's flag), or of a step in a loop, covers nothing.
  void WaitForCompute(Device* device, StreamKind kind, Device* other, int64_t ticket, int32_t alive,
                      std::vector<StreamWait>& waits);

 private:
  size_t Index(Device* device, StreamKind kind);

  StepGraph& graph_;
  // By stream: 4 for each device, in the order of StepGraph::devices.
  std::vector<int64_t> tickets_;            // the last ticket
  std::vector<std::vector<int64_t>> seen_;  // by other stream: the ticket up to which it has waited
  std::vector<const Device*> unordered_;
};

}  // namespace tenon
