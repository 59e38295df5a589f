// A plug-in's device in the test's own process, like the stub of TensorFlow's stream_executor
// tests: platform MY_DEVICE of type GPU, two devices, host memory, handles that mean nothing. A
// test replaces what it looks at.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "plugin/host/devices/pluggable_device_impl.h"

struct SP_Stream_st {
  int id = 0;
};
struct SP_Event_st {
  int id = 0;
};

namespace tenon::testing {

inline constexpr int kStubDevices = 2;

// What InitStreamExecutorPlugin is called with: copies of these. One test at a time.
struct StubPlugin {
  SP_Platform platform;
  SP_PlatformFns platform_fns;
  SP_DeviceFns device_fns;
  SP_StreamExecutor se;
  void (*destroy_platform)(SP_Platform*) = [](SP_Platform*) {};
  void (*destroy_platform_fns)(SP_PlatformFns*) = [](SP_PlatformFns*) {};
  void (*fill_device)(SP_Device*) = [](SP_Device*) {};
};
StubPlugin DefaultStub();

// Registers `stub` as the plug-in that StubInit brings.
void UseStub(const StubPlugin& stub);
void StubInit(SE_PlatformRegistrationParams* params, TF_Status* status);

// Platform and device 0 of the stub; the device is not started for BFC.
absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStub(const StubPlugin& stub);
absl::StatusOr<std::unique_ptr<PluggableDevice>> StartStub(const StubPlugin& stub);

// What callbacks saw; they are plain functions and have no other place to put it.
struct Seen {
  std::vector<std::string> calls;
  SP_Stream stream = nullptr;
  SP_Stream other = nullptr;
  SP_Event event = nullptr;
  int count = 0;
};
inline Seen seen;

// Tests of the stub's device 0: change stub_, then Start.
class StreamExecutorTest : public ::testing::Test {
 protected:
  StreamExecutorTest() { seen = Seen(); }
  void Start() {
    auto device = StartStub(stub_);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  // From here on the plug-in counts in seen.count what the device gives back to it.
  void CountFrees() {
    stub_.se.deallocate = [](const SP_Device*, SP_DeviceMemoryBase* mem) {
      ++seen.count;
      free(mem->opaque);
    };
  }
  StubPlugin stub_ = DefaultStub();
  std::unique_ptr<PluggableDevice> device_;
};

}  // namespace tenon::testing
