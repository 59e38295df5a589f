// A device whose memory the host cannot touch.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/device.h"

namespace tenon::testing {

// An address on the device has the top bit: no pointer of the host has it.
inline constexpr uintptr_t kFar = uintptr_t{1} << 63;
inline void* Far(void* p) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) | kFar); }
template <typename T = float>
T* Near(void* p) {
  EXPECT_NE(reinterpret_cast<uintptr_t>(p) & kFar, 0u) << "an address of the host";
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) & ~kFar);
}

inline int live_buffers = 0;
// What was copied, in order.
inline std::vector<std::string>* FarLog() {
  static auto* const log = new std::vector<std::string>;
  return log;
}

class FarDevice : public Device {
 public:
  std::string_view type() const override { return "FAR"; }
  int ordinal() const override { return 0; }
  std::string_view plugin() const override { return "plugin_variables_test"; }
  int priority() const override { return 220; }
  int64_t memory_bytes() const override { return 0; }
  bool is_host() const override { return false; }
  absl::StatusOr<BufferRef> Allocate(size_t bytes) override {
    ++live_buffers;
    return BufferRef::Adopt(Buffer::OfDevice(
        Far(std::malloc(bytes + 1)), bytes,
        [](void* p, size_t, void*) { std::free(Near<void>(p)), --live_buffers; }, nullptr));
  }
  StreamHandle compute_stream() override { return this; }
  StreamHandle host_to_device_stream() override { return this; }
  StreamHandle device_to_host_stream() override { return this; }
  StreamHandle device_to_device_stream() override { return this; }
  absl::Status StreamWaitsForStream(StreamHandle, StreamHandle) override {
    return absl::OkStatus();
  }
  absl::Status CopyHostToDevice(StreamHandle, const Tensor& from, const Tensor& to) override {
    FarLog()->push_back("to device");
    std::memcpy(Near<void>(to.data()), from.data(), from.bytes());
    return absl::OkStatus();
  }
  absl::Status CopyDeviceToHost(StreamHandle, const Tensor& from, const Tensor& to) override {
    FarLog()->push_back("to host");
    std::memcpy(to.data(), Near<void>(from.data()), from.bytes());
    return absl::OkStatus();
  }
  absl::Status CopyDeviceToDevice(StreamHandle, const Tensor& from, const Tensor& to) override {
    std::memcpy(Near<void>(to.data()), Near<void>(from.data()), from.bytes());
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
