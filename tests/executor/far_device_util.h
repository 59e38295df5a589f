// A device whose memory the host cannot touch.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"

namespace tenon::testing {

// An address on the device has the top bit: no pointer of the host has it.
inline constexpr uintptr_t kFar = uintptr_t{1} << 63;
inline void* Far(void* p) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) | kFar); }
template <typename T = float>
T* Near(void* p) {
  EXPECT_NE(reinterpret_cast<uintptr_t>(p) & kFar, 0u) << "an address of the host";
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) & ~kFar);
}

inline std::atomic<int> live_buffers = 0;
// What was copied, in order.
inline std::vector<std::string>* FarLog() {
  static auto* const log = new std::vector<std::string>;
  return log;
}

class FarDevice : public BareDevice {
 public:
  std::string_view type() const override { return "FAR"; }
  std::string_view plugin() const override { return "plugin_variables_test"; }
  absl::StatusOr<BufferRef> Allocate(size_t bytes) override {
    ++live_buffers;
    return BufferRef::Adopt(Buffer::OfDevice(
        Far(std::malloc(bytes + 1)), bytes,
        [](void* p, size_t, void*) { std::free(Near<void>(p)), --live_buffers; }, nullptr));
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
};

}  // namespace tenon::testing
