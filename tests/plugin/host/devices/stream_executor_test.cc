// TensorFlow's cases for its StreamExecutor C API: registration, devices and memory; and what a
// host does beyond them: failures of callbacks, order of destruction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon {
namespace {

using testing::DefaultStub;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::InitStub;
using testing::seen;
using testing::StartStub;
using ::testing::StartsWith;
using testing::StreamExecutorTest;
using testing::StubPlugin;

absl::Status InitStatus(const StubPlugin& stub) { return InitStub(stub).status(); }

// --- Registration.

TEST_F(StreamExecutorTest, SuccessfulRegistration) {
  auto platform = InitStub(stub_);
  ASSERT_TRUE(platform.ok()) << platform.status();
  EXPECT_EQ((*platform)->name(), "MY_DEVICE");
  EXPECT_EQ((*platform)->type(), "GPU");
  EXPECT_EQ((*platform)->DeviceCount(nullptr), testing::kStubDevices);
  auto devices = CreatePluggableDevices(*platform, 0);
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[1]->physical_name(), "/physical_device:GPU:1");
  EXPECT_EQ((*devices)[1]->full_name(), "/job:localhost/replica:0/task:0/device:GPU:1");
}

TEST_F(StreamExecutorTest, NameNotSet) {
  stub_.platform.name = nullptr;
  EXPECT_EQ(InitStatus(stub_),
            absl::FailedPreconditionError("'name' field in SP_Platform must be set."));
}

TEST_F(StreamExecutorTest, TypeNotSet) {
  stub_.platform.type = nullptr;
  EXPECT_EQ(InitStatus(stub_),
            absl::FailedPreconditionError("'type' field in SP_Platform must be set."));
}

TEST_F(StreamExecutorTest, InvalidNames) {
  for (const char* name : {"INVALID:NAME", "INVALID/", "", "bad_dev", "BADDEV2", "_X"}) {
    stub_ = DefaultStub();
    stub_.platform.name = name;
    EXPECT_EQ(InitStatus(stub_), absl::FailedPreconditionError(absl::StrCat(
                                     "Device name/type '", name, "' must match [A-Z][A-Z_]*.")));
    stub_.platform.name = "GOOD_";
    stub_.platform.type = name;
    EXPECT_THAT(InitStatus(stub_).message(), HasSubstr(absl::StrCat("'", name, "' must match")));
  }
}

TEST_F(StreamExecutorTest, StructSizeNotSet) {
  stub_.platform.struct_size = 0;
  EXPECT_EQ(InitStatus(stub_),
            absl::FailedPreconditionError(
                "Expected initialized `SP_Platform` structure with `struct_size` field set to "
                "SP_PLATFORM_STRUCT_SIZE. Found `struct_size` = 0."));
  stub_ = DefaultStub();
  stub_.device_fns.struct_size = 0;
  EXPECT_THAT(
      InitStatus(stub_).message(),
      HasSubstr(
          "`SP_DeviceFns` structure with `struct_size` field set to SP_DEVICE_FNS_STRUCT_SIZE."));
  stub_ = DefaultStub();
  stub_.se.struct_size = 0;
  EXPECT_THAT(InitStatus(stub_).message(),
              HasSubstr("field set to SP_STREAM_EXECUTOR_STRUCT_SIZE. Found `struct_size` = 0."));
}

TEST_F(StreamExecutorTest, OddStructSizesAreAccepted) {
  stub_.se.struct_size = 16;
  stub_.platform.struct_size = 9999;
  EXPECT_TRUE(InitStatus(stub_).ok());
}

// TensorFlow 2.5's struct ends with host_callback where later ones have mem_zero.
TEST_F(StreamExecutorTest, AStructOfOldHeadersIsNamed) {
  stub_.se.struct_size = 264;
  stub_.se.memset = nullptr;
  stub_.se.memset32 = nullptr;
  const absl::Status status = InitStatus(stub_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), StartsWith("'memset' field in SP_StreamExecutor must be set. Its "
                                           "struct_size is 264, this host needs 288: "));
}

TEST_F(StreamExecutorTest, CreateDeviceNotSet) {
  stub_.platform_fns.create_device = nullptr;
  EXPECT_EQ(InitStatus(stub_),
            absl::FailedPreconditionError("'create_device' field in SP_PlatformFns must be set."));
}

TEST_F(StreamExecutorTest, UnifiedMemoryAllocateNotSet) {
  stub_.platform.supports_unified_memory = 1;
  EXPECT_EQ(InitStatus(stub_),
            absl::FailedPreconditionError(
                "'unified_memory_allocate' field in SP_StreamExecutor must be set."));
}

TEST_F(StreamExecutorTest, DestroyPlatformNotSet) {
  stub_.destroy_platform = nullptr;
  EXPECT_EQ(InitStatus(stub_),
            absl::FailedPreconditionError(
                "'destroy_platform' field in SE_PlatformRegistrationParams must be set."));
}

// Members in the order of validation: with all from the n-th on unset, the n-th is named.
struct Slot {
  const char* name;
  size_t offset;
};
#define SLOT(table, member) \
  Slot { #member, offsetof(table, member) }

template <typename Table>
void ExpectOrder(const std::vector<Slot>& slots, Table StubPlugin::*table, std::string_view in) {
  for (size_t first = 0; first < slots.size(); ++first) {
    StubPlugin stub = DefaultStub();
    for (size_t i = first; i < slots.size(); ++i) {
      std::memset(reinterpret_cast<char*>(&(stub.*table)) + slots[i].offset, 0, sizeof(void*));
    }
    EXPECT_EQ(InitStatus(stub).message(),
              absl::StrCat("'", slots[first].name, "' field in ", in, " must be set."));
  }
}

TEST_F(StreamExecutorTest, MembersAreValidatedInOrder) {
  ExpectOrder(
      {SLOT(SP_PlatformFns, create_device), SLOT(SP_PlatformFns, destroy_device),
       SLOT(SP_PlatformFns, create_stream_executor), SLOT(SP_PlatformFns, destroy_stream_executor),
       SLOT(SP_PlatformFns, create_device_fns), SLOT(SP_PlatformFns, destroy_device_fns)},
      &StubPlugin::platform_fns, "SP_PlatformFns");
  using SE = SP_StreamExecutor;
  ExpectOrder({SLOT(SE, allocate),
               SLOT(SE, deallocate),
               SLOT(SE, get_allocator_stats),
               SLOT(SE, host_memory_allocate),
               SLOT(SE, host_memory_deallocate),
               SLOT(SE, device_memory_usage),
               SLOT(SE, create_stream),
               SLOT(SE, destroy_stream),
               SLOT(SE, create_stream_dependency),
               SLOT(SE, get_stream_status),
               SLOT(SE, create_event),
               SLOT(SE, destroy_event),
               SLOT(SE, get_event_status),
               SLOT(SE, record_event),
               SLOT(SE, wait_for_event),
               SLOT(SE, memcpy_dtoh),
               SLOT(SE, memcpy_htod),
               SLOT(SE, sync_memcpy_dtoh),
               SLOT(SE, sync_memcpy_htod),
               SLOT(SE, block_host_for_event),
               SLOT(SE, synchronize_all_activity),
               SLOT(SE, host_callback),
               SLOT(SE, mem_zero),
               SLOT(SE, memset),
               SLOT(SE, memset32)},
              &StubPlugin::se, "SP_StreamExecutor");
}

TEST_F(StreamExecutorTest, InitErrorIsReturnedAsItIs) {
  const auto init = [](SE_PlatformRegistrationParams*, TF_Status* status) {
    TF_SetStatus(status, TF_UNAVAILABLE, "no driver");
  };
  EXPECT_EQ(InitStreamExecutorPlugin(init, "stub.so").status(),
            absl::UnavailableError("no driver"));
}

TEST_F(StreamExecutorTest, ExceptionFromInitIsAnError) {
  const auto init = [](SE_PlatformRegistrationParams*, TF_Status*) {
    throw std::runtime_error("thrown");
  };
  EXPECT_EQ(InitStreamExecutorPlugin(init, "stub.so").status(),
            absl::InternalError("SE_InitPlugin of plug-in stub.so threw an exception: thrown"));
}

TEST_F(StreamExecutorTest, DestructionInOrder) {
  const auto add_platform_fns = [](StubPlugin& stub) {
    stub.platform_fns.destroy_device_fns = [](const SP_Platform*, SP_DeviceFns*) {
      seen.calls.push_back("device_fns");
    };
    stub.platform_fns.destroy_stream_executor = [](const SP_Platform*, SP_StreamExecutor*) {
      seen.calls.push_back("executor");
    };
    stub.platform_fns.destroy_timer_fns = [](const SP_Platform*, SP_TimerFns*) {
      seen.calls.push_back("timer_fns");
    };
    stub.platform_fns.destroy_device = [](const SP_Platform*, SP_Device*) {
      seen.calls.push_back("device");
    };
    stub.destroy_platform = [](SP_Platform*) { seen.calls.push_back("platform"); };
    stub.destroy_platform_fns = [](SP_PlatformFns*) { seen.calls.push_back("platform_fns"); };
  };
  add_platform_fns(stub_);
  Start();
  device_.reset();
  EXPECT_THAT(seen.calls, ElementsAre("device", "device_fns", "executor", "timer_fns", "platform",
                                      "platform_fns"));
  seen.calls.clear();
  stub_.se.allocate = nullptr;  // refused after the tables were created
  EXPECT_FALSE(InitStatus(stub_).ok());
  EXPECT_THAT(seen.calls,
              ElementsAre("device_fns", "executor", "timer_fns", "platform", "platform_fns"));
}

// --- Devices.

TEST_F(StreamExecutorTest, DeviceCount) {
  stub_.platform_fns.get_device_count = nullptr;
  EXPECT_EQ((*InitStub(stub_))->DeviceCount(nullptr), 0);
  stub_.platform_fns.get_device_count = [](const SP_Platform*, int* n, TF_Status*) { *n = -3; };
  EXPECT_EQ((*InitStub(stub_))->DeviceCount(nullptr), 0);
  stub_.platform_fns.get_device_count = [](const SP_Platform*, int*, TF_Status* s) {
    TF_SetStatus(s, TF_INTERNAL, "lost");
  };
  std::string why;
  EXPECT_EQ((*InitStub(stub_))->DeviceCount(&why), 0);
  EXPECT_THAT(why, HasSubstr("lost"));
  stub_.platform_fns.get_device_count = [](const SP_Platform*, int* n, TF_Status*) { *n = 100000; };
  EXPECT_EQ((*InitStub(stub_))->DeviceCount(&why), 0);
  EXPECT_EQ(
      why,
      "get_device_count answered 100000, and no plug-in has more than 1024 devices: it has none");
}

TEST_F(StreamExecutorTest, CreateDeviceFails) {
  stub_.platform_fns.create_device = [](const SP_Platform*, SE_CreateDeviceParams*, TF_Status* s) {
    TF_SetStatus(s, TF_INTERNAL, "broken board");
  };
  EXPECT_EQ(StartStub(stub_).status(),
            absl::InternalError("broken board (create_device of plug-in stub.so, /device:GPU:0)"));
  stub_.platform_fns.create_device = [](const SP_Platform*, SE_CreateDeviceParams* params,
                                        TF_Status*) { params->device->struct_size = 0; };
  EXPECT_THAT(StartStub(stub_).status().message(),
              StartsWith("Expected initialized `SP_Device` structure"));
}

TEST_F(StreamExecutorTest, CreateStreamFails) {
  stub_.se.create_stream = [](const SP_Device*, SP_Stream*, TF_Status* s) {
    TF_SetStatus(s, TF_INTERNAL, "no stream");
  };
  EXPECT_EQ(StartStub(stub_).status(),
            absl::InternalError("no stream (create_stream of plug-in stub.so, /device:GPU:0)"));
}

TEST_F(StreamExecutorTest, DeviceDescription) {
  stub_.fill_device = [](SP_Device* device) {
    device->hardware_name = "TestName";
    device->device_vendor = "TestVendor";
    device->pci_bus_id = "TestPCIBusId";
  };
  stub_.device_fns.get_numa_node = [](const SP_Device*) { return 123; };
  stub_.device_fns.get_memory_bandwidth = [](const SP_Device*) { return int64_t{54}; };
  Start();
  const DeviceFacts* facts = FactsOf(*device_);
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->hardware_name, "TestName");
  EXPECT_EQ(facts->vendor, "TestVendor");
  EXPECT_EQ(facts->pci_bus_id, "TestPCIBusId");
  EXPECT_EQ(facts->numa_node, 123);
  EXPECT_EQ(facts->memory_bandwidth, 54);
}

TEST_F(StreamExecutorTest, DeviceDescriptionNumaNodeNotSet) {
  Start();
  EXPECT_EQ(FactsOf(*device_)->numa_node, -1);
  EXPECT_EQ(FactsOf(*device_)->memory_bandwidth, -1);
}

// --- Memory.

TEST_F(StreamExecutorTest, Allocate) {
  stub_.se.deallocate = [](const SP_Device*, SP_DeviceMemoryBase* mem) {
    seen.count += mem->size == 0 && mem->payload == 0;
    free(mem->opaque);
  };
  Start();
  {
    auto buffer = device_->Allocate(2 * sizeof(int));
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_NE((*buffer)->data(), nullptr);
    EXPECT_EQ((*buffer)->bytes(), 2 * sizeof(int));
  }
  device_.reset();  // memory waits for the compute stream; here for the device's end
  EXPECT_EQ(seen.count, 1);
}

TEST_F(StreamExecutorTest, BuffersMayOutliveTheDevice) {
  stub_.se.deallocate = [](const SP_Device*, SP_DeviceMemoryBase*) { ++seen.count; };
  Start();
  BufferRef buffer = *device_->Allocate(8);
  void* data = buffer->data();
  device_.reset();
  buffer = BufferRef();
  EXPECT_EQ(seen.count, 0);
  free(data);
}

TEST_F(StreamExecutorTest, MemoryWaitsForTheComputeStream) {
  static SE_EventStatus status;
  status = SE_EVENT_PENDING;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) { return status; };
  CountFrees();
  Start();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(device_->Allocate(16).ok());
  EXPECT_EQ(seen.count, 0);
  status = SE_EVENT_COMPLETE;
  ASSERT_TRUE(device_->Allocate(16).ok());
  EXPECT_GE(seen.count, 90);
}

TEST_F(StreamExecutorTest, MemoryBehindABrokenEventWaitsForAnIdleDevice) {
  static bool idle;
  idle = false;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) { return SE_EVENT_ERROR; };
  stub_.se.synchronize_all_activity = [](const SP_Device*, TF_Status* s) {
    if (!idle) TF_SetStatus(s, TF_UNAVAILABLE, "busy");
  };
  CountFrees();
  Start();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(device_->Allocate(16).ok());
  EXPECT_EQ(seen.count, 0);
  idle = true;
  ASSERT_TRUE(device_->Allocate(16).ok());
  EXPECT_GE(seen.count, 90);
}

// What comes back while the host waits may be used by work that began meanwhile.
TEST_F(StreamExecutorTest, AFullDeviceFreesWhatCameBackBeforeTheWait) {
  static std::vector<BufferRef> held;
  static bool full;
  full = false;
  stub_.se.allocate = [](const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* mem) {
    mem->opaque = full && seen.count == 0 ? nullptr : malloc(size);
  };
  CountFrees();
  stub_.se.synchronize_all_activity = [](const SP_Device*, TF_Status*) { held.clear(); };
  Start();
  for (int i = 0; i < 2; ++i) held.push_back(*device_->Allocate(16));
  held.pop_back();
  full = true;
  EXPECT_TRUE(device_->Allocate(16).ok());
  EXPECT_EQ(seen.count, 1);
}

// A plug-in may take long to answer for an event: other threads allocate and release meanwhile.
TEST_F(StreamExecutorTest, OneThreadAsksForRetiredMemoryOthersDoNotWait) {
  static absl::Notification* asked;
  static absl::Notification* answer;
  static bool answered;
  absl::Notification was_asked, may_answer;
  asked = &was_asked;
  answer = &may_answer;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) {
    if (!asked->HasBeenNotified()) {
      asked->Notify();
      answered = answer->WaitForNotificationWithTimeout(absl::Seconds(5));
    }
    return SE_EVENT_COMPLETE;
  };
  Start();
  std::vector<BufferRef> held;
  for (int i = 0; i < 40; ++i) held.push_back(*device_->Allocate(16));
  held.resize(1);  // so many that an event is recorded
  std::thread asks([&] { EXPECT_TRUE(device_->Allocate(16).ok()); });
  was_asked.WaitForNotification();
  EXPECT_TRUE(device_->Allocate(16).ok());
  held.clear();
  may_answer.Notify();
  asks.join();
  EXPECT_TRUE(answered);
}

TEST_F(StreamExecutorTest, AllocateAnswersNull) {
  stub_.se.allocate = [](const SP_Device*, uint64_t, int64_t, SP_DeviceMemoryBase*) {
    ++seen.count;
  };
  Start();
  EXPECT_EQ(device_->Allocate(64).status(),
            absl::ResourceExhaustedError(
                "out of memory: 64 bytes asked for (allocate of plug-in stub.so, /device:GPU:0)"));
  EXPECT_LE(seen.count, 2);
}

TEST_F(StreamExecutorTest, BfcTakesRegionsAndGivesInteriorPointers) {
  stub_.platform.use_bfc_allocator = 1;
  stub_.platform.force_memory_growth = 1;
  stub_.se.device_memory_usage = [](const SP_Device*, int64_t* free, int64_t* total) -> TF_Bool {
    *free = *total = int64_t{1} << 30;
    return 1;
  };
  stub_.se.allocate = [](const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* mem) {
    seen.calls.push_back(std::to_string(size));
    mem->opaque = malloc(size);
  };
  Start();
  EXPECT_EQ(device_->memory_bytes(), (int64_t{1024} - 255) << 20);
  EXPECT_TRUE(seen.calls.empty());
  BufferRef a = *device_->Allocate(16);
  BufferRef b = *device_->Allocate(300);
  BufferRef c = *device_->Allocate(16);
  EXPECT_EQ(static_cast<char*>(b->data()) - static_cast<char*>(a->data()), 256);
  EXPECT_EQ(static_cast<char*>(c->data()) - static_cast<char*>(b->data()), 512);
  EXPECT_THAT(seen.calls, ElementsAre("2097152"));
}

TEST_F(StreamExecutorTest, BfcWithoutMemoryUsage) {
  stub_.platform.use_bfc_allocator = 1;
  EXPECT_THAT(StartStub(stub_).status().message(),
              StartsWith("Failed to query available memory for PluggableDevice 0"));
  EXPECT_EQ(StartStub(stub_).status().code(), absl::StatusCode::kUnknown);
  stub_.se.device_memory_usage = [](const SP_Device*, int64_t* free, int64_t*) -> TF_Bool {
    *free = -5;
    return 1;
  };
  EXPECT_THAT(StartStub(stub_).status().message(), StartsWith("it answers that -5 bytes are free"));
}

TEST_F(StreamExecutorTest, UnifiedMemoryAllocate) {
  stub_.platform.supports_unified_memory = 1;
  stub_.se.unified_memory_allocate = [](const SP_Device*, uint64_t size) {
    ++seen.count;
    return malloc(size);
  };
  stub_.se.unified_memory_deallocate = [](const SP_Device*, void* data) {
    --seen.count;
    free(data);
  };
  Start();
  auto memory = device_->AllocateUnifiedMemory(8);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(seen.count, 1);
  device_->FreeUnifiedMemory(*memory);
  EXPECT_EQ(seen.count, 0);
}

TEST_F(StreamExecutorTest, GetAllocatorStats) {
  Start();
  EXPECT_FALSE(device_->AllocatorStats()->has_value());
  stub_.se.get_allocator_stats = [](const SP_Device*, SP_AllocatorStats* stats) -> TF_Bool {
    stats->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
    stats->bytes_in_use = 123;
    return 1;
  };
  Start();
  EXPECT_EQ((*device_->AllocatorStats())->bytes_in_use, 123);
}

TEST_F(StreamExecutorTest, DeviceMemoryUsage) {
  stub_.se.device_memory_usage = [](const SP_Device*, int64_t* free, int64_t* total) -> TF_Bool {
    *free = 45;
    *total = 7;
    return 1;
  };
  Start();
  EXPECT_EQ(**device_->MemoryUsage(), (std::pair<int64_t, int64_t>(45, 7)));
}

}  // namespace
}  // namespace tenon
