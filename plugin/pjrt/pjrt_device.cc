#include "plugin/pjrt/pjrt_device.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tenon::pjrt {

PjrtDevice::PjrtDevice(std::shared_ptr<Client> client, size_t index, std::string type, int ordinal)
    : client_(std::move(client)), index_(index), type_(std::move(type)), ordinal_(ordinal) {}

absl::Status PjrtDevice::NotHere(std::string_view what) const {
  return absl::FailedPreconditionError(absl::StrCat(short_name(),
                                                    " runs compiled programs only: ", what,
                                                    " is for devices that run nodes one by one"));
}

absl::StatusOr<BufferRef> PjrtDevice::Allocate(size_t /*bytes*/) { return NotHere("memory"); }
absl::Status PjrtDevice::StreamWaitsForStream(StreamHandle, StreamHandle) {
  return NotHere("waiting for a stream");
}
absl::Status PjrtDevice::CopyHostToDevice(StreamHandle, const Tensor&, const Tensor&) {
  return NotHere("a copy");
}
absl::Status PjrtDevice::CopyDeviceToHost(StreamHandle, const Tensor&, const Tensor&) {
  return NotHere("a copy");
}
absl::Status PjrtDevice::CopyDeviceToDevice(StreamHandle, const Tensor&, const Tensor&) {
  return NotHere("a copy");
}
absl::StatusOr<EventHandle> PjrtDevice::AcquireEvent() { return NotHere("an event"); }
absl::Status PjrtDevice::RecordEvent(StreamHandle, EventHandle) { return NotHere("an event"); }
absl::Status PjrtDevice::BlockUntilComplete(EventHandle, double) { return NotHere("an event"); }
absl::Status PjrtDevice::HostCallback(StreamHandle, std::function<absl::Status()>) {
  return NotHere("a callback");
}

PjrtDevice* AsPjrt(Device* device) { return dynamic_cast<PjrtDevice*>(device); }
const PjrtDevice* AsPjrt(const Device* device) { return dynamic_cast<const PjrtDevice*>(device); }

}  // namespace tenon::pjrt
