// SE_InitPlugin: a platform with one device. Its memory is the host's and its streams do everything
// at once, so that events are complete when they are recorded. Put your device's calls in their
// places: a function that takes a stream may return before the work is done.

#include <cstdlib>
#include <cstring>

#include "status.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

// The host never looks into the objects behind the handles: put in them what your device needs.
struct SP_Stream_st {};
struct SP_Event_st {};

namespace sample {
namespace {

constexpr size_t kAlignment = 256;
constexpr int64_t kMemory = int64_t{1} << 30;

void* AlignedAlloc(uint64_t size) {
  if (size > static_cast<uint64_t>(kMemory)) return nullptr;
  return std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
}

// --- Memory. Copies and kernels may get addresses in the middle of a block: with use_bfc_allocator
// the host divides blocks. Deallocate gets what Allocate returned. ---

void Allocate(const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = AlignedAlloc(size);  // NULL says that there is no more
  memory->size = memory->opaque == nullptr ? 0 : size;
}

// memory->size is 0 here: the host keeps only the address.
void Deallocate(const SP_Device*, SP_DeviceMemoryBase* memory) { std::free(memory->opaque); }

void* HostMemoryAllocate(const SP_Device*, uint64_t size) { return AlignedAlloc(size); }
void HostMemoryDeallocate(const SP_Device*, void* memory) { std::free(memory); }

TF_Bool GetAllocatorStats(const SP_Device*, SP_AllocatorStats*) { return 0; }  // not known

TF_Bool DeviceMemoryUsage(const SP_Device*, int64_t* free, int64_t* total) {
  *free = *total = kMemory;
  return 1;
}

// --- Streams and events. ---

void CreateStream(const SP_Device*, SP_Stream* stream, TF_Status* status) {
  Guard(status, [&] { *stream = new SP_Stream_st; });
}
void DestroyStream(const SP_Device*, SP_Stream stream) { delete stream; }
void CreateStreamDependency(const SP_Device*, SP_Stream, SP_Stream, TF_Status*) {}
void GetStreamStatus(const SP_Device*, SP_Stream, TF_Status*) {}

void CreateEvent(const SP_Device*, SP_Event* event, TF_Status* status) {
  Guard(status, [&] { *event = new SP_Event_st; });
}
void DestroyEvent(const SP_Device*, SP_Event event) { delete event; }
SE_EventStatus GetEventStatus(const SP_Device*, SP_Event) { return SE_EVENT_COMPLETE; }
void RecordEvent(const SP_Device*, SP_Stream, SP_Event, TF_Status*) {}
void WaitForEvent(const SP_Device* const, SP_Stream, SP_Event, TF_Status* const) {}
void BlockHostForEvent(const SP_Device*, SP_Event, TF_Status*) {}
void SynchronizeAllActivity(const SP_Device*, TF_Status*) {}

TF_Bool HostCallback(const SP_Device*, SP_Stream, SE_StatusCallbackFn callback, void* argument) {
  const StatusPtr status(TF_NewStatus());
  callback(argument, status.get());
  return 1;
}

// --- Copies and fills. ---

void MemcpyDeviceToHost(const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from,
                        uint64_t size, TF_Status*) {
  std::memcpy(to, from->opaque, size);
}
void MemcpyHostToDevice(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from,
                        uint64_t size, TF_Status*) {
  std::memcpy(to->opaque, from, size);
}
void MemcpyDeviceToDevice(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to,
                          const SP_DeviceMemoryBase* from, uint64_t size, TF_Status*) {
  std::memmove(to->opaque, from->opaque, size);
}
void SyncMemcpyDeviceToHost(const SP_Device*, void* to, const SP_DeviceMemoryBase* from,
                            uint64_t size, TF_Status*) {
  std::memcpy(to, from->opaque, size);
}
void SyncMemcpyHostToDevice(const SP_Device*, SP_DeviceMemoryBase* to, const void* from,
                            uint64_t size, TF_Status*) {
  std::memcpy(to->opaque, from, size);
}

void Memset(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, uint8_t pattern, uint64_t size,
            TF_Status*) {
  std::memset(to->opaque, pattern, size);
}
void MemZero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to, uint64_t size,
             TF_Status* status) {
  Memset(device, stream, to, 0, size, status);
}
void Memset32(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, uint32_t pattern, uint64_t size,
              TF_Status*) {
  char* bytes = static_cast<char*>(to->opaque);
  for (uint64_t done = 0; done + sizeof(pattern) <= size; done += sizeof(pattern))
    std::memcpy(bytes + done, &pattern, sizeof(pattern));
}

// --- Device and platform. ---

void GetDeviceCount(const SP_Platform*, int* count, TF_Status*) { *count = 1; }

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status*) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "Sample";
}
void DestroyDevice(const SP_Platform*, SP_Device*) {}

void CreateDeviceFns(const SP_Platform*, SE_CreateDeviceFnsParams* params, TF_Status*) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
}
void DestroyDeviceFns(const SP_Platform*, SP_DeviceFns*) {}

void CreateStreamExecutor(const SP_Platform*, SE_CreateStreamExecutorParams* params, TF_Status*) {
  SP_StreamExecutor* table = params->stream_executor;
  table->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  table->allocate = Allocate;
  table->deallocate = Deallocate;
  table->host_memory_allocate = HostMemoryAllocate;
  table->host_memory_deallocate = HostMemoryDeallocate;
  table->get_allocator_stats = GetAllocatorStats;
  table->device_memory_usage = DeviceMemoryUsage;
  table->create_stream = CreateStream;
  table->destroy_stream = DestroyStream;
  table->create_stream_dependency = CreateStreamDependency;
  table->get_stream_status = GetStreamStatus;
  table->create_event = CreateEvent;
  table->destroy_event = DestroyEvent;
  table->get_event_status = GetEventStatus;
  table->record_event = RecordEvent;
  table->wait_for_event = WaitForEvent;
  table->memcpy_dtoh = MemcpyDeviceToHost;
  table->memcpy_htod = MemcpyHostToDevice;
  table->memcpy_dtod = MemcpyDeviceToDevice;
  table->sync_memcpy_dtoh = SyncMemcpyDeviceToHost;
  table->sync_memcpy_htod = SyncMemcpyHostToDevice;
  table->block_host_for_event = BlockHostForEvent;
  table->synchronize_all_activity = SynchronizeAllActivity;
  table->mem_zero = MemZero;
  table->memset = Memset;
  table->memset32 = Memset32;
  table->host_callback = HostCallback;
}
void DestroyStreamExecutor(const SP_Platform*, SP_StreamExecutor*) {}

void DestroyPlatform(SP_Platform*) {}
void DestroyPlatformFns(SP_PlatformFns*) {}

}  // namespace
}  // namespace sample

SAMPLE_ENTRY_POINT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status*) {
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  SP_Platform* platform = params->platform;
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = "SAMPLE";
  platform->type = "SAMPLE";
  platform->use_bfc_allocator = 1;
  platform->force_memory_growth = 1;

  SP_PlatformFns* functions = params->platform_fns;
  functions->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  functions->get_device_count = sample::GetDeviceCount;
  functions->create_device = sample::CreateDevice;
  functions->destroy_device = sample::DestroyDevice;
  functions->create_device_fns = sample::CreateDeviceFns;
  functions->destroy_device_fns = sample::DestroyDeviceFns;
  functions->create_stream_executor = sample::CreateStreamExecutor;
  functions->destroy_stream_executor = sample::DestroyStreamExecutor;
  params->destroy_platform = sample::DestroyPlatform;
  params->destroy_platform_fns = sample::DestroyPlatformFns;
}
