// Vector clocks: tickets_ counts the kernels that are queued on each compute stream, and
// seen_[a][b] is the last ticket of stream b that stream a has waited for. A wait that earlier
// waits imply is left out.

#include "executor/plan/steps/device_streams.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr size_t kStreamKinds = 4;

}  // namespace

StreamHandle StreamOn(Device& device, StreamKind kind) {
  switch (kind) {
    case StreamKind::kCompute:
      return device.compute_stream();
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
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) return;
  devices.push_back(device);
  // Other runs share the streams, so a run's first wait is never implied: streams begin at ticket
  // 1, of which no other stream has seen anything.
  tickets_.resize(devices.size() * kStreamKinds, 1);
  for (std::vector<int64_t>& seen : seen_) seen.resize(tickets_.size(), 0);
  seen_.resize(tickets_.size(), std::vector<int64_t>(tickets_.size(), 0));
}

size_t DeviceStreams::Index(Device* device, StreamKind kind) {
  Use(device);
  const auto it = std::find(graph_.devices.begin(), graph_.devices.end(), device);
  return static_cast<size_t>(it - graph_.devices.begin()) * kStreamKinds +
         static_cast<size_t>(kind);
}

int64_t DeviceStreams::NextTicket(Device* device) {
  return ++tickets_[Index(device, StreamKind::kCompute)];
}

int64_t DeviceStreams::LastTicket(Device* device) {
  return tickets_[Index(device, StreamKind::kCompute)];
}

void DeviceStreams::WaitForCompute(Device* device, StreamKind kind, Device* other, int64_t ticket,
                                   int32_t alive, std::vector<StreamWait>& waits) {
  const size_t stream = Index(device, kind), compute = Index(other, StreamKind::kCompute);
  const bool ordered = std::ranges::find(unordered_, other) == unordered_.end();
  if (ordered && seen_[stream][compute] >= ticket) return;
  // A step that may be skipped, or that runs again, covers nothing. A wait covers all tickets so
  // far, not only `ticket`: streams work in order.
  if (alive == FlagTree::kAlways && graph_.open_loop < 0)
    seen_[stream][compute] = tickets_[compute];
  waits.push_back({StreamOn(*device, kind), StreamOn(*other, StreamKind::kCompute)});
}

}  // namespace tenon
