// Every callback of a plug-in's tables may throw: the host gets a status that names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon {
namespace {

using ::testing::StartsWith;
using testing::StreamExecutorTest;
using testing::StubPlugin;

template <typename Result, typename... Args>
void Break(Result (*&callback)(Args...)) {
  callback = [](Args...) -> Result { throw std::runtime_error("thrown"); };
}

std::string Thrown(const std::string& callback) {
  return callback + " of plug-in stub.so threw an exception: thrown";
}

Tensor OnDevice(PluggableDevice& device) {
  return Tensor(DataType::kInt32, Shape({1}), *device.Allocate(sizeof(int32_t)));
}

struct Call {
  const char* callback;
  std::function<void(StubPlugin&)> broken;
  std::function<absl::Status(PluggableDevice&)> call;
};
#define CALL(name, expression)                                                          \
  {                                                                                     \
#name, [](StubPlugin & stub) { Break(stub.se.name); }, [](PluggableDevice &         \
                                                              d) { return expression; } \
  }

class ThrowingCalls : public StreamExecutorTest, public ::testing::WithParamInterface<Call> {};

TEST_P(ThrowingCalls, AreErrors) {
  GetParam().broken(stub_);
  Start();
  const absl::Status status = GetParam().call(*device_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), StartsWith(Thrown(GetParam().callback)));
}

INSTANTIATE_TEST_SUITE_P(
    All, ThrowingCalls,
    ::testing::Values(
        Call CALL(allocate, d.Allocate(8).status()),
        Call CALL(get_allocator_stats, d.AllocatorStats().status()),
        Call CALL(device_memory_usage, d.MemoryUsage().status()),
        Call CALL(create_stream_dependency, d.StreamWaitsForStream(d.compute_stream(), nullptr)),
        Call CALL(get_stream_status, d.StreamStatus(d.compute_stream())),
        Call CALL(create_event, d.AcquireEvent().status()),
        Call CALL(record_event, d.RecordEvent(d.compute_stream(), *d.AcquireEvent())),
        Call CALL(get_event_status, d.BlockUntilComplete(*d.AcquireEvent(), 1)),
        Call CALL(wait_for_event, d.StreamWaitsForEvent(d.compute_stream(), *d.AcquireEvent())),
        Call CALL(block_host_for_event, d.BlockUntilStreamDone(d.compute_stream())),
        Call CALL(block_host_until_done, d.BlockUntilStreamDone(d.compute_stream())),
        Call CALL(synchronize_all_activity, d.SynchronizeAllActivity()),
        Call CALL(memcpy_htod, d.CopyHostToDevice(nullptr, OnDevice(d), OnDevice(d))),
        Call CALL(memcpy_dtoh, d.CopyDeviceToHost(nullptr, OnDevice(d), OnDevice(d))),
        Call CALL(memcpy_dtod, d.CopyDeviceToDevice(nullptr, OnDevice(d), OnDevice(d))),
        Call CALL(sync_memcpy_htod, d.CopyHostToDeviceNow(nullptr, nullptr, 8)),
        Call CALL(sync_memcpy_dtoh, d.CopyDeviceToHostNow(nullptr, nullptr, 8)),
        Call CALL(mem_zero, d.ZeroMemory(d.compute_stream(), nullptr, 8)),
        Call CALL(memset32, d.FillMemory32(d.compute_stream(), nullptr, 0, 8)),
        Call CALL(host_callback,
                  d.HostCallback(d.compute_stream(), [] { return absl::OkStatus(); }))),
    [](const auto& info) { return std::string(info.param.callback); });

TEST_F(StreamExecutorTest, ADeviceThatThrowsWhenItIsMadeIsAnError) {
  const std::pair<const char*, std::function<void(StubPlugin&)>> cases[] = {
      {"create_device_fns", [](StubPlugin& s) { Break(s.platform_fns.create_device_fns); }},
      {"create_stream_executor",
       [](StubPlugin& s) { Break(s.platform_fns.create_stream_executor); }},
      {"create_device", [](StubPlugin& s) { Break(s.platform_fns.create_device); }},
      {"create_stream", [](StubPlugin& s) { Break(s.se.create_stream); }},
  };
  for (const auto& [callback, broken] : cases) {
    StubPlugin stub = testing::DefaultStub();
    broken(stub);
    EXPECT_THAT(testing::StartStub(stub).status().message(), StartsWith(Thrown(callback)));
  }
}

TEST_F(StreamExecutorTest, AnEventWithAnAnswerThatThrowsIsNotUsedAgain) {
  Break(stub_.se.get_event_status);
  Start();
  const EventHandle event = *device_->AcquireEvent();
  ASSERT_TRUE(device_->RecordEvent(device_->compute_stream(), event).ok());
  device_->ReleaseEvent(event);
  EXPECT_NE(*device_->AcquireEvent(), event);
}

TEST_F(StreamExecutorTest, WhatThrowsAtTheEndEndsNothingElse) {
  stub_.se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status*) {
    static SP_Stream_st one;
    *stream = &one;
  };
  Break(stub_.se.deallocate);
  Break(stub_.se.destroy_event);
  Break(stub_.se.destroy_stream);
  Break(stub_.platform_fns.destroy_device);
  Break(stub_.platform_fns.destroy_device_fns);
  Break(stub_.platform_fns.destroy_stream_executor);
  Break(stub_.platform_fns.destroy_timer_fns);
  Break(stub_.destroy_platform);
  Break(stub_.destroy_platform_fns);
  Break(stub_.device_fns.get_numa_node);
  Break(stub_.device_fns.get_memory_bandwidth);
  ::testing::internal::CaptureStderr();
  Start();
  EXPECT_EQ(FactsOf(*device_)->numa_node, DeviceFacts().numa_node);
  void* memory = (*device_->Allocate(8))->data();
  device_->ReleaseEvent(*device_->AcquireEvent());
  device_.reset();
  free(memory);
  const std::string warnings = ::testing::internal::GetCapturedStderr();
  for (const char* callback :
       {"deallocate", "destroy_event", "destroy_stream", "destroy_device", "destroy_device_fns",
        "destroy_stream_executor", "destroy_timer_fns", "destroy_platform", "destroy_platform_fns",
        "get_numa_node", "get_memory_bandwidth"}) {
    EXPECT_THAT(warnings, ::testing::HasSubstr("warning: " + Thrown(callback)));
  }
}

}  // namespace
}  // namespace tenon
