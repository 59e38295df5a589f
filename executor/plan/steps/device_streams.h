// The streams of a plan's devices: the work that is queued on each stream, and how far each stream
// has waited for the others, so that the plan queues no wait that earlier waits imply.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/plan/base/step_graph.h"

namespace tenon {

enum class StreamKind { kCompute, kHostToDevice, kDeviceToHost, kDeviceToDevice };
struct DeviceStream {
  Device* device;  // not the host
  StreamKind kind = StreamKind::kCompute;
  int number = 0;  // of a compute stream (ComputeStreams)
  bool operator==(const DeviceStream&) const = default;
};
// Owned by the device.
StreamHandle HandleOf(const DeviceStream& stream);

// Work that steps of the plan queue on a compute stream has tickets: for each stream 2, 3, … in the
// order in which the work is queued. Ticket 1 stands for the work of other runs, which share the
// streams. No device may be null, and Use alone may be given the host. All functions but
// UseInAnyOrder call Use for their devices. Not thread-safe.
class DeviceStreams {
 public:
  explicit DeviceStreams(StepGraph& graph) : graph_(graph) {}

  // Notes that the plan and the open loops use the device. Does nothing for the host.
  void Use(Device* device);
  // Notes that work comes to the compute stream in an order that the plan does not know, as from
  // asynchronous kernels: from now on WaitFor always adds a wait for this stream.
  void UseInAnyOrder(const DeviceStream& stream) { unordered_.push_back(stream); }
  // A new ticket, for work that the step which is added next queues on the compute stream.
  int64_t NextTicket(const DeviceStream& stream) { return ++tickets_[Index(stream)]; }
  // The ticket of the work that the plan queued last on the compute stream; 1 without any.
  int64_t LastTicket(const DeviceStream& stream) { return tickets_[Index(stream)]; }
  // Notes that this step, which runs once in each run, queues the last work of the compute stream.
  void IsWorkOf(const DeviceStream& stream, PluginStep* step) {
    steps_[{Index(stream), LastTicket(stream)}] = step;
  }
  // WaitFor for a step on another compute stream: waits for no more than the work with this ticket,
  // if that is of IsWorkOf. The step then gets an event.
  void WaitForWork(const DeviceStream& stream, const DeviceStream& other, int64_t ticket,
                   int32_t alive, std::vector<StreamWait>& waits);
  // Adds to `waits` that `stream` waits for all work that is now on the compute stream `other`,
  // unless `ticket` is 0 (no work) or earlier waits cover `ticket`; always adds it for `other` of
  // UseInAnyOrder. A wait covers all tickets that were given out before it, and what `other` has
  // waited for. But the wait of a step that may be skipped (`alive` is the step's flag), or of a
  // step in a loop, covers nothing.
  void WaitFor(const DeviceStream& stream, const DeviceStream& other, int64_t ticket, int32_t alive,
               std::vector<StreamWait>& waits);

 private:
  size_t Index(const DeviceStream& stream);

  StepGraph& graph_;
  std::vector<DeviceStream> streams_;  // that were asked for
  // By stream:
  std::vector<int64_t> tickets_;            // the last ticket
  std::vector<std::vector<int64_t>> seen_;  // by other stream: the ticket up to which it has waited
  std::vector<DeviceStream> unordered_;
  absl::flat_hash_map<std::pair<size_t, int64_t>, PluginStep*> steps_;  // by stream and ticket
};

}  // namespace tenon
