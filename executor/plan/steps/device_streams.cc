// Vector clocks: tickets_ counts the kernels that are queued on each compute stream, and
// seen_[a][b] is the last ticket of stream b that stream a has waited for. A wait that earlier
// waits imply is left out.

#include "executor/plan/steps/device_streams.h"

#include <algorithm>

#include "plugin/device/compute_streams.h"

namespace tenon {

StreamHandle HandleOf(const DeviceStream& stream) {
  Device& device = *stream.device;
  switch (stream.kind) {
    case StreamKind::kCompute:
      return stream.number == 0 ? device.compute_stream()
                                : ComputeStreams::Of(device)->compute_stream_at(stream.number);
    case StreamKind::kHostToDevice:
      return device.host_to_device_stream();
    case StreamKind::kDeviceToHost:
      return device.device_to_host_stream();
    case StreamKind::kDeviceToDevice:
      break;
  }
  return device.device_to_device_stream();
}

void DeviceStreams::Use(Device* device) {
  if (device->is_host()) return;
  for (int32_t l = graph_.open_loop; l >= 0; l = graph_.loops[l].parent)
    graph_.loops[l].uses_devices = true;
  std::vector<Device*>& devices = graph_.devices;
  if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
}

size_t DeviceStreams::Index(const DeviceStream& stream) {
  Use(stream.device);
  const auto found = std::ranges::find(streams_, stream);
  if (found != streams_.end()) return static_cast<size_t>(found - streams_.begin());
  streams_.push_back(stream);
  // Other runs share the streams, so a run's first wait is never implied: streams begin at ticket
  // 1, of which no other stream has seen anything.
  tickets_.push_back(1);
  for (std::vector<int64_t>& seen : seen_) seen.push_back(0);
  seen_.emplace_back(streams_.size(), 0);
  return streams_.size() - 1;
}

// Not all that is queued on the other stream now: a branch would wait for the whole branch beside
// it, which stands before it.
void DeviceStreams::WaitForWork(const DeviceStream& stream, const DeviceStream& other,
                                int64_t ticket, int32_t alive, std::vector<StreamWait>& waits) {
  const size_t waiting = Index(stream), compute = Index(other);
  const auto found = steps_.find({compute, ticket});
  const bool ordered = std::ranges::find(unordered_, other) == unordered_.end();
  if (found == steps_.end() || !ordered) return WaitFor(stream, other, ticket, alive, waits);
  int64_t& seen = seen_[waiting][compute];
  if (seen >= ticket) return;
  if (alive == FlagTree::kAlways && graph_.open_loop < 0) seen = ticket;
  if (found->second->event() < 0) found->second->Record(graph_.num_events++);
  waits.push_back({HandleOf(stream), HandleOf(other), found->second->event(), other.device});
}

void DeviceStreams::WaitFor(const DeviceStream& stream, const DeviceStream& other, int64_t ticket,
                            int32_t alive, std::vector<StreamWait>& waits) {
  const size_t waiting = Index(stream), compute = Index(other);
  const bool ordered = std::ranges::find(unordered_, other) == unordered_.end();
  if (ordered && seen_[waiting][compute] >= ticket) return;
  // A step that may be skipped, or that runs again, covers nothing. A wait covers all tickets so
  // far, not only `ticket`: streams work in order.
  if (alive == FlagTree::kAlways && graph_.open_loop < 0) {
    for (size_t i = 0; i < seen_.size(); ++i)
      seen_[waiting][i] = std::max(seen_[waiting][i], seen_[compute][i]);
    seen_[waiting][compute] = tickets_[compute];
  }
  waits.push_back({HandleOf(stream), HandleOf(other), -1, other.device});
}

}  // namespace tenon
