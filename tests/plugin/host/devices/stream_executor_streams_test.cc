// TensorFlow's cases for its StreamExecutor C API: streams, events, callbacks and copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "plugin/kernels/run_limits.h"
#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::seen;
using ::testing::StartsWith;
using testing::StreamExecutorTest;

Tensor HostInts(std::vector<int32_t> values) {
  return Tensor::Of<int32_t>(DataType::kInt32, absl::MakeConstSpan(values),
                             Shape({static_cast<int64_t>(values.size())}));
}

Tensor DeviceInts(PluggableDevice& device, int64_t n) {
  return Tensor(DataType::kInt32, Shape({n}), *device.Allocate(n * sizeof(int32_t)));
}

std::vector<int32_t> Ints(const Tensor& t) {
  return {t.flat<int32_t>(), t.flat<int32_t>() + t.num_elements()};
}

// --- Streams and events.

TEST_F(StreamExecutorTest, FourStreamsCreatedAndDestroyed) {
  stub_.se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status*) {
    *stream = new SP_Stream_st{++seen.count};
  };
  stub_.se.destroy_stream = [](const SP_Device*, SP_Stream stream) {
    seen.calls.push_back(std::to_string(stream->id));
    delete stream;
  };
  Start();
  EXPECT_EQ(static_cast<SP_Stream>(device_->compute_stream())->id, 1);
  EXPECT_EQ(static_cast<SP_Stream>(device_->host_to_device_stream())->id, 2);
  EXPECT_EQ(static_cast<SP_Stream>(device_->device_to_host_stream())->id, 3);
  EXPECT_EQ(static_cast<SP_Stream>(device_->device_to_device_stream())->id, 4);
  device_.reset();
  EXPECT_THAT(seen.calls, ElementsAre("1", "2", "3", "4"));
}

TEST_F(StreamExecutorTest, CreateStreamDependency) {
  stub_.se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status*) {
    *stream = new SP_Stream_st;
  };
  stub_.se.destroy_stream = [](const SP_Device*, SP_Stream stream) { delete stream; };
  stub_.se.create_stream_dependency = [](const SP_Device*, SP_Stream dependent, SP_Stream other,
                                         TF_Status*) {
    seen.stream = dependent;
    seen.other = other;
  };
  Start();
  EXPECT_TRUE(
      device_->StreamWaitsForStream(device_->device_to_host_stream(), device_->compute_stream())
          .ok());
  EXPECT_EQ(seen.stream, device_->device_to_host_stream());
  EXPECT_EQ(seen.other, device_->compute_stream());
}

// A dependency touches both streams: no other thread uses either meanwhile.
TEST_F(StreamExecutorTest, ADependencyHasBothStreamsAlone) {
  static std::atomic<bool> depends, overlap;
  depends = overlap = false;
  static std::thread other;
  static std::function<void()> record;
  stub_.se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status*) {
    *stream = new SP_Stream_st;
  };
  stub_.se.destroy_stream = [](const SP_Device*, SP_Stream stream) { delete stream; };
  stub_.se.record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {
    if (depends) overlap = true;
  };
  stub_.se.create_stream_dependency = [](const SP_Device*, SP_Stream, SP_Stream, TF_Status*) {
    depends = true;
    other = std::thread(record);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    depends = false;
  };
  Start();
  const StreamHandle streams[] = {device_->compute_stream(), device_->device_to_host_stream()};
  EventHandle event = *device_->AcquireEvent();
  for (const int waited_for : {0, 1}) {
    record = [&, waited_for] {
      EXPECT_TRUE(device_->RecordEvent(streams[waited_for], event).ok());
    };
    EXPECT_TRUE(device_->StreamWaitsForStream(streams[1 - waited_for], streams[waited_for]).ok());
    other.join();
    EXPECT_FALSE(overlap);
  }
  EXPECT_TRUE(device_->StreamWaitsForStream(streams[0], streams[0]).ok());
  other.join();
  device_->ReleaseEvent(event);
}

TEST_F(StreamExecutorTest, StreamStatus) {
  static bool broken;
  broken = false;
  stub_.se.get_stream_status = [](const SP_Device*, SP_Stream, TF_Status* s) {
    if (broken) TF_SetStatus(s, TF_INTERNAL, "Test error");
  };
  Start();
  EXPECT_TRUE(device_->StreamStatus(device_->compute_stream()).ok());
  broken = true;
  EXPECT_THAT(device_->StreamStatus(device_->compute_stream()).message(), StartsWith("Test error"));
}

TEST_F(StreamExecutorTest, CreateEvent) {
  stub_.se.create_event = [](const SP_Device*, SP_Event* event, TF_Status*) {
    ++seen.count;
    *event = new SP_Event_st{123};
  };
  stub_.se.destroy_event = [](const SP_Device*, SP_Event event) {
    seen.calls.push_back(std::to_string(event->id));
    delete event;
  };
  Start();
  auto event = device_->AcquireEvent();
  ASSERT_TRUE(event.ok());
  device_->ReleaseEvent(*event);
  EXPECT_EQ(*device_->AcquireEvent(), *event);  // from the pool
  device_->ReleaseEvent(*event);
  EXPECT_EQ(seen.count, 1);
  device_.reset();
  EXPECT_THAT(seen.calls, ElementsAre("123"));
}

TEST_F(StreamExecutorTest, CreateEventFails) {
  stub_.se.create_event = [](const SP_Device*, SP_Event*, TF_Status* s) {
    TF_SetStatus(s, TF_INTERNAL, "no event");
  };
  Start();
  EXPECT_EQ(device_->AcquireEvent().status(),
            absl::InternalError("no event (create_event of plug-in stub.so, /device:GPU:0)"));
}

TEST_F(StreamExecutorTest, EventIsRecordedAgainOnlyOnceComplete) {
  static SE_EventStatus status;
  status = SE_EVENT_PENDING;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) { return status; };
  Start();
  EventHandle first = *device_->AcquireEvent();
  ASSERT_TRUE(device_->RecordEvent(device_->compute_stream(), first).ok());
  device_->ReleaseEvent(first);
  EventHandle second = *device_->AcquireEvent();
  EXPECT_NE(second, first);
  device_->ReleaseEvent(second);
  EXPECT_EQ(*device_->AcquireEvent(), second);
  status = SE_EVENT_COMPLETE;
  EXPECT_EQ(*device_->AcquireEvent(), first);
}

TEST_F(StreamExecutorTest, PollForEventStatus) {
  static SE_EventStatus status;
  status = SE_EVENT_COMPLETE;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) { return status; };
  Start();
  EventHandle event = *device_->AcquireEvent();
  ASSERT_TRUE(device_->RecordEvent(device_->compute_stream(), event).ok());
  EXPECT_TRUE(device_->BlockUntilComplete(event, 1).ok());
  for (const SE_EventStatus bad : {SE_EVENT_ERROR, SE_EVENT_UNKNOWN}) {
    status = bad;
    const absl::Status failed = device_->BlockUntilComplete(event, 1);
    EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(failed.message(),
                StartsWith(absl::StrCat("Unexpected Event status: ", static_cast<int>(bad))));
  }
  status = SE_EVENT_PENDING;
  EXPECT_EQ(device_->BlockUntilComplete(event, 0.02).code(), absl::StatusCode::kDeadlineExceeded);
}

// The event stays pending: who waited may give it back all the same.
TEST_F(StreamExecutorTest, AWaitEndsWithItsRun) {
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) { return SE_EVENT_PENDING; };
  Start();
  EventHandle event = *device_->AcquireEvent();
  ASSERT_TRUE(device_->RecordEvent(device_->compute_stream(), event).ok());
  std::atomic<bool> cancelled{false};
  const RunLimits limits{.cancelled = &cancelled};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancelled.store(true);
  });
  {
    const LimitsScope scope(&limits);
    EXPECT_EQ(device_->BlockUntilComplete(event, 60).code(), absl::StatusCode::kCancelled);
  }
  other.join();
  const RunLimits late{.deadline = absl::Now() + absl::Milliseconds(5)};
  const LimitsScope scope(&late);
  const absl::Status status = device_->BlockUntilComplete(event, 60);
  EXPECT_EQ(status, late.Check()) << "the run's error, not the device's";
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  device_->ReleaseEvent(event);
}

// A watchdog must see a long wait, not many short calls, and whom it is for.
TEST_F(StreamExecutorTest, WaitingForAnEventIsOneCall) {
  static std::set<uint64_t> serials;
  static std::string node;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) {
    for (const ActiveCall& active : ActiveCalls()) {
      serials.insert(active.serial);
      node = active.call->node;
    }
    return SE_EVENT_PENDING;
  };
  Start();
  EventHandle event = *device_->AcquireEvent();
  ASSERT_TRUE(device_->RecordEvent(device_->compute_stream(), event).ok());
  const CallbackScope waiting("stub.so", "get_event_status", "the_node");
  EXPECT_FALSE(device_->BlockUntilComplete(event, 0.01).ok());
  EXPECT_EQ(serials.size(), 1u);
  EXPECT_EQ(node, "the_node");
}

TEST_F(StreamExecutorTest, RecordAndWaitForEvent) {
  stub_.se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status*) {
    *stream = new SP_Stream_st;
  };
  stub_.se.destroy_stream = [](const SP_Device*, SP_Stream stream) { delete stream; };
  stub_.se.create_event = [](const SP_Device*, SP_Event* event, TF_Status*) {
    *event = new SP_Event_st;
  };
  stub_.se.destroy_event = [](const SP_Device*, SP_Event event) { delete event; };
  stub_.se.record_event = [](const SP_Device*, SP_Stream stream, SP_Event event, TF_Status*) {
    seen.stream = stream;
    seen.event = event;
  };
  stub_.se.wait_for_event = [](const SP_Device* const, SP_Stream stream, SP_Event event,
                               TF_Status* const) {
    seen.other = stream;
    seen.count = event == seen.event;
  };
  Start();
  EventHandle event = *device_->AcquireEvent();
  ASSERT_TRUE(device_->RecordEvent(device_->host_to_device_stream(), event).ok());
  EXPECT_EQ(seen.stream, device_->host_to_device_stream());
  ASSERT_TRUE(device_->StreamWaitsForEvent(device_->compute_stream(), event).ok());
  EXPECT_EQ(seen.other, device_->compute_stream());
  EXPECT_EQ(seen.count, 1);
}

TEST_F(StreamExecutorTest, RecordEventFails) {
  stub_.se.record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status* s) {
    TF_SetStatus(s, TF_ABORTED, "not recorded");
  };
  Start();
  EventHandle event = *device_->AcquireEvent();
  EXPECT_EQ(device_->RecordEvent(device_->compute_stream(), event),
            absl::AbortedError("not recorded (record_event of plug-in stub.so, /device:GPU:0)"));
}

TEST_F(StreamExecutorTest, BlockHostForEvent) {
  stub_.se.create_event = [](const SP_Device*, SP_Event* event, TF_Status*) {
    *event = new SP_Event_st{357};
  };
  stub_.se.destroy_event = [](const SP_Device*, SP_Event event) { delete event; };
  stub_.se.block_host_for_event = [](const SP_Device*, SP_Event event, TF_Status*) {
    seen.count = event->id;
  };
  Start();
  EXPECT_TRUE(device_->BlockUntilStreamDone(device_->compute_stream()).ok());
  EXPECT_EQ(seen.count, 357);
}

TEST_F(StreamExecutorTest, BlockHostUntilDone) {
  stub_.se.block_host_until_done = [](const SP_Device*, SP_Stream, TF_Status*) { ++seen.count; };
  Start();
  EXPECT_TRUE(device_->BlockUntilStreamDone(device_->compute_stream()).ok());
  EXPECT_EQ(seen.count, 1);
}

TEST_F(StreamExecutorTest, SynchronizeAllActivity) {
  stub_.se.synchronize_all_activity = [](const SP_Device*, TF_Status* s) {
    if (++seen.count > 1) TF_SetStatus(s, TF_DATA_LOSS, "lost");
  };
  Start();
  EXPECT_TRUE(device_->SynchronizeAllActivity().ok());
  EXPECT_THAT(device_->SynchronizeAllActivity().message(),
              StartsWith("lost (synchronize_all_activity of plug-in stub.so"));
}

TEST_F(StreamExecutorTest, HostCallbackOk) {
  stub_.se.host_callback = [](const SP_Device*, SP_Stream, SE_StatusCallbackFn fn,
                              void* arg) -> TF_Bool {
    TF_Status* status = TF_NewStatus();
    fn(arg, status);
    const bool ok = TF_GetCode(status) == TF_OK;
    TF_DeleteStatus(status);
    return ok;
  };
  Start();
  EXPECT_TRUE(
      device_->HostCallback(device_->compute_stream(), [] { return absl::OkStatus(); }).ok());
  const absl::Status failed = device_->HostCallback(device_->compute_stream(),
                                                    [] { return absl::UnimplementedError("no"); });
  EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(failed.message(), StartsWith("Failed to host callback."));
}

TEST_F(StreamExecutorTest, HostCallbackRefused) {
  Start();
  EXPECT_FALSE(
      device_->HostCallback(device_->compute_stream(), [] { return absl::OkStatus(); }).ok());
}

// --- Copies and fills.

TEST_F(StreamExecutorTest, Copies) {
  stub_.se.memcpy_dtod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to,
                            const SP_DeviceMemoryBase* from, uint64_t size, TF_Status*) {
    EXPECT_EQ(from->size, size);
    EXPECT_EQ(to->size, size);
    std::memcpy(to->opaque, from->opaque, size);
  };
  Start();
  const Tensor host = HostInts({7, 8, 9});
  const Tensor there = DeviceInts(*device_, 3);
  const Tensor copy = DeviceInts(*device_, 3);
  const Tensor back = HostInts({0, 0, 0});
  EXPECT_TRUE(device_->CopyHostToDevice(device_->host_to_device_stream(), host, there).ok());
  EXPECT_TRUE(device_->CopyDeviceToDevice(device_->device_to_device_stream(), there, copy).ok());
  EXPECT_TRUE(device_->CopyDeviceToHost(device_->device_to_host_stream(), copy, back).ok());
  EXPECT_THAT(Ints(back), ElementsAre(7, 8, 9));
}

TEST_F(StreamExecutorTest, DeviceToDeviceNotSet) {
  Start();
  const Tensor t = DeviceInts(*device_, 1);
  EXPECT_EQ(device_->CopyDeviceToDevice(device_->device_to_device_stream(), t, t).code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(StreamExecutorTest, CopyChecksSizes) {
  Start();
  const absl::Status status = device_->CopyHostToDevice(device_->host_to_device_stream(),
                                                        HostInts({1, 2}), DeviceInts(*device_, 1));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
}

TEST_F(StreamExecutorTest, EmptyCopyCallsNobody) {
  stub_.se.memcpy_htod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase*, const void*,
                            uint64_t, TF_Status*) { ++seen.count; };
  Start();
  EXPECT_TRUE(device_
                  ->CopyHostToDevice(device_->host_to_device_stream(), HostInts({}),
                                     DeviceInts(*device_, 0))
                  .ok());
  EXPECT_EQ(seen.count, 0);
}

TEST_F(StreamExecutorTest, SyncCopies) {
  Start();
  int there = 0;
  const int here = 4711;
  int back = 0;
  EXPECT_TRUE(device_->CopyHostToDeviceNow(&here, &there, sizeof(int)).ok());
  EXPECT_EQ(there, 4711);
  EXPECT_TRUE(device_->CopyDeviceToHostNow(&there, &back, sizeof(int)).ok());
  EXPECT_EQ(back, 4711);
}

TEST_F(StreamExecutorTest, MemZero) {
  Start();
  int value = 23;
  EXPECT_TRUE(device_->ZeroMemory(device_->compute_stream(), &value, sizeof(value)).ok());
  EXPECT_EQ(value, 0);
}

TEST_F(StreamExecutorTest, Memset32) {
  Start();
  uint32_t values[2] = {1, 2};
  EXPECT_TRUE(
      device_->FillMemory32(device_->compute_stream(), values, 0x01020304, sizeof(values)).ok());
  EXPECT_EQ(values[1], 0x01020304u);
}

}  // namespace
}  // namespace tenon
