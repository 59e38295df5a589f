#include "tests/plugin/host/devices/stub_device_util.h"

#include <cstdlib>
#include <cstring>

#include "graph/base/status_macros.h"

namespace tenon::testing {
namespace {

StubPlugin current;

void Allocate(const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* mem) {
  mem->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  mem->opaque = std::malloc(size);
  mem->size = size;
}
void Deallocate(const SP_Device*, SP_DeviceMemoryBase* mem) { std::free(mem->opaque); }
void* HostAllocate(const SP_Device*, uint64_t size) { return std::malloc(size); }
void HostDeallocate(const SP_Device*, void* data) { std::free(data); }

void CopyToHost(const SP_Device*, void* to, const SP_DeviceMemoryBase* from, uint64_t size) {
  std::memcpy(to, from->opaque, size);
}

SP_StreamExecutor DefaultExecutor() {
  SP_StreamExecutor se{};
  se.struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  se.allocate = Allocate;
  se.deallocate = Deallocate;
  se.host_memory_allocate = HostAllocate;
  se.host_memory_deallocate = HostDeallocate;
  se.get_allocator_stats = [](const SP_Device*, SP_AllocatorStats*) -> TF_Bool { return 0; };
  se.device_memory_usage = [](const SP_Device*, int64_t*, int64_t*) -> TF_Bool { return 0; };
  se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status*) { *stream = nullptr; };
  se.destroy_stream = [](const SP_Device*, SP_Stream) {};
  se.create_stream_dependency = [](const SP_Device*, SP_Stream, SP_Stream, TF_Status*) {};
  se.get_stream_status = [](const SP_Device*, SP_Stream, TF_Status*) {};
  se.create_event = [](const SP_Device*, SP_Event* event, TF_Status*) { *event = nullptr; };
  se.destroy_event = [](const SP_Device*, SP_Event) {};
  se.get_event_status = [](const SP_Device*, SP_Event) { return SE_EVENT_COMPLETE; };
  se.record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {};
  se.wait_for_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {};
  se.memcpy_dtoh = [](const SP_Device* d, SP_Stream, void* to, const SP_DeviceMemoryBase* from,
                      uint64_t size, TF_Status*) { CopyToHost(d, to, from, size); };
  se.memcpy_htod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from,
                      uint64_t size, TF_Status*) { std::memcpy(to->opaque, from, size); };
  se.sync_memcpy_dtoh = [](const SP_Device* d, void* to, const SP_DeviceMemoryBase* from,
                           uint64_t size, TF_Status*) { CopyToHost(d, to, from, size); };
  se.sync_memcpy_htod = [](const SP_Device*, SP_DeviceMemoryBase* to, const void* from,
                           uint64_t size, TF_Status*) { std::memcpy(to->opaque, from, size); };
  se.block_host_for_event = [](const SP_Device*, SP_Event, TF_Status*) {};
  se.synchronize_all_activity = [](const SP_Device*, TF_Status*) {};
  se.host_callback = [](const SP_Device*, SP_Stream, SE_StatusCallbackFn, void*) -> TF_Bool {
    return 0;
  };
  se.mem_zero = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* at, uint64_t size,
                   TF_Status*) { std::memset(at->opaque, 0, size); };
  se.memset = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* at, uint8_t pattern,
                 uint64_t size, TF_Status*) { std::memset(at->opaque, pattern, size); };
  se.memset32 = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* at, uint32_t pattern,
                   uint64_t size, TF_Status*) {
    for (uint64_t i = 0; i + sizeof(pattern) <= size; i += sizeof(pattern)) {
      std::memcpy(static_cast<char*>(at->opaque) + i, &pattern, sizeof(pattern));
    }
  };
  return se;
}

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status*) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  current.fill_device(params->device);
}

}  // namespace

StubPlugin DefaultStub() {
  StubPlugin stub;
  stub.platform = {};
  stub.platform.struct_size = SP_PLATFORM_STRUCT_SIZE;
  stub.platform.name = "MY_DEVICE";
  stub.platform.type = "GPU";
  stub.platform_fns = {};  // struct_size is left to the host's preset
  stub.platform_fns.get_device_count = [](const SP_Platform*, int* count, TF_Status*) {
    *count = kStubDevices;
  };
  stub.platform_fns.create_device = CreateDevice;
  stub.platform_fns.destroy_device = [](const SP_Platform*, SP_Device*) {};
  stub.platform_fns.create_device_fns = [](const SP_Platform*, SE_CreateDeviceFnsParams* params,
                                           TF_Status*) {
    *params->device_fns = current.device_fns;
  };
  stub.platform_fns.destroy_device_fns = [](const SP_Platform*, SP_DeviceFns*) {};
  stub.platform_fns.create_stream_executor = [](const SP_Platform*,
                                                SE_CreateStreamExecutorParams* params, TF_Status*) {
    *params->stream_executor = current.se;
  };
  stub.platform_fns.destroy_stream_executor = [](const SP_Platform*, SP_StreamExecutor*) {};
  stub.device_fns = {};
  stub.device_fns.struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  stub.se = DefaultExecutor();
  return stub;
}

void UseStub(const StubPlugin& stub) { current = stub; }

void StubInit(SE_PlatformRegistrationParams* params, TF_Status*) {
  *params->platform = current.platform;
  const size_t preset = params->platform_fns->struct_size;
  *params->platform_fns = current.platform_fns;
  params->platform_fns->struct_size = preset;
  params->destroy_platform = current.destroy_platform;
  params->destroy_platform_fns = current.destroy_platform_fns;
}

absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStub(const StubPlugin& stub) {
  UseStub(stub);
  return InitStreamExecutorPlugin(StubInit, "stub.so");
}

absl::StatusOr<std::unique_ptr<PluggableDevice>> StartStub(const StubPlugin& stub) {
  TENON_ASSIGN_OR_RETURN(auto platform, InitStub(stub));
  TENON_ASSIGN_OR_RETURN(auto device, PluggableDevice::Create(platform, 0, 0));
  TENON_RETURN_IF_ERROR(device->Start());
  return device;
}

}  // namespace tenon::testing
