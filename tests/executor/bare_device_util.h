// A device of a plug-in that does nothing, for others to begin with.
#pragma once

#include <functional>

#include "plugin/device/device.h"

namespace tenon::testing {

class BareDevice : public Device {
 public:
  int ordinal() const override { return 0; }
  std::string_view plugin() const override { return "test"; }
  int priority() const override { return 220; }
  int64_t memory_bytes() const override { return 0; }
  bool is_host() const override { return false; }
  absl::StatusOr<BufferRef> Allocate(size_t) override {
    return absl::UnimplementedError("no memory");
  }
  StreamHandle compute_stream() override { return this; }
  StreamHandle host_to_device_stream() override { return this; }
  StreamHandle device_to_host_stream() override { return this; }
  StreamHandle device_to_device_stream() override { return this; }
  absl::Status StreamWaitsForStream(StreamHandle, StreamHandle) override {
    return absl::OkStatus();
  }
  absl::Status CopyHostToDevice(StreamHandle, const Tensor&, const Tensor&) override {
    return absl::OkStatus();
  }
  absl::Status CopyDeviceToHost(StreamHandle, const Tensor&, const Tensor&) override {
    return absl::OkStatus();
  }
  absl::Status CopyDeviceToDevice(StreamHandle, const Tensor&, const Tensor&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<EventHandle> AcquireEvent() override { return this; }
  void ReleaseEvent(EventHandle) override {}
  absl::Status RecordEvent(StreamHandle, EventHandle) override { return absl::OkStatus(); }
  absl::Status BlockUntilComplete(EventHandle, double) override { return absl::OkStatus(); }
  absl::Status SynchronizeAllActivity() override { return absl::OkStatus(); }
  absl::Status HostCallback(StreamHandle, std::function<absl::Status()> callback) override {
    return callback();
  }
};

}  // namespace tenon::testing
