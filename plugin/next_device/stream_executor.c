// SE_InitPlugin: the same devices by StreamExecutor, in the host's memory, for processes in which
// TENON_NEXT_DEVICE is 0. Streams do everything at once.
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

#include <stdlib.h>
#include <string.h>

#include "next_device.h"

struct SP_Stream_st {
  int unused;
};
struct SP_Event_st {
  int unused;
};

enum { kAlignment = 64 };
static const int64_t kMemoryBytes = (int64_t)1 << 30;

static void* AlignedAlloc(uint64_t size) {
  if (size > (uint64_t)kMemoryBytes) return NULL;
  return aligned_alloc(kAlignment, (size + kAlignment) / kAlignment * kAlignment);
}

static void Allocate(const SP_Device* device, uint64_t size, int64_t space,
                     SP_DeviceMemoryBase* memory) {
  (void)device;
  (void)space;
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = AlignedAlloc(size);
  memory->size = memory->opaque == NULL ? 0 : size;
}
static void Deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  (void)device;
  free(memory->opaque);
}
static void* HostAllocate(const SP_Device* device, uint64_t size) {
  (void)device;
  return AlignedAlloc(size);
}
static void HostDeallocate(const SP_Device* device, void* memory) {
  (void)device;
  free(memory);
}
static TF_Bool AllocatorStats(const SP_Device* device, SP_AllocatorStats* stats) {
  (void)device;
  (void)stats;
  return 0;
}
static TF_Bool MemoryUsage(const SP_Device* device, int64_t* free_bytes, int64_t* total) {
  (void)device;
  *free_bytes = *total = kMemoryBytes;
  return 1;
}

static void CreateStream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  (void)device;
  *stream = malloc(sizeof(**stream));
  if (*stream == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a stream");
}
static void DestroyStream(const SP_Device* device, SP_Stream stream) {
  (void)device;
  free(stream);
}
static void StreamDependency(const SP_Device* device, SP_Stream a, SP_Stream b, TF_Status* status) {
  (void)device;
  (void)a;
  (void)b;
  (void)status;
}
static void StreamStatus(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  (void)device;
  (void)stream;
  (void)status;
}
static void CreateEvent(const SP_Device* device, SP_Event* event, TF_Status* status) {
  (void)device;
  *event = malloc(sizeof(**event));
  if (*event == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for an event");
}
static void DestroyEvent(const SP_Device* device, SP_Event event) {
  (void)device;
  free(event);
}
static SE_EventStatus EventStatus(const SP_Device* device, SP_Event event) {
  (void)device;
  (void)event;
  return SE_EVENT_COMPLETE;
}
static void StreamEvent(const SP_Device* device, SP_Stream stream, SP_Event event,
                        TF_Status* status) {
  (void)device;
  (void)stream;
  (void)event;
  (void)status;
}
static void BlockForEvent(const SP_Device* device, SP_Event event, TF_Status* status) {
  (void)device;
  (void)event;
  (void)status;
}
static void Synchronize(const SP_Device* device, TF_Status* status) {
  (void)device;
  (void)status;
}
static TF_Bool HostCallback(const SP_Device* device, SP_Stream stream, SE_StatusCallbackFn callback,
                            void* argument) {
  (void)device;
  (void)stream;
  TF_Status* const status = TF_NewStatus();
  callback(argument, status);
  TF_DeleteStatus(status);
  return 1;
}

static void ToHost(const SP_Device* device, SP_Stream stream, void* to,
                   const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  (void)device;
  (void)stream;
  (void)status;
  memcpy(to, from->opaque, size);
}
static void ToDevice(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to,
                     const void* from, uint64_t size, TF_Status* status) {
  (void)device;
  (void)stream;
  (void)status;
  memcpy(to->opaque, from, size);
}
static void Between(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to,
                    const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  (void)device;
  (void)stream;
  (void)status;
  memmove(to->opaque, from->opaque, size);
}
static void ToHostNow(const SP_Device* device, void* to, const SP_DeviceMemoryBase* from,
                      uint64_t size, TF_Status* status) {
  ToHost(device, NULL, to, from, size, status);
}
static void ToDeviceNow(const SP_Device* device, SP_DeviceMemoryBase* to, const void* from,
                        uint64_t size, TF_Status* status) {
  ToDevice(device, NULL, to, from, size, status);
}
static void Fill(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to,
                 uint8_t pattern, uint64_t size, TF_Status* status) {
  (void)device;
  (void)stream;
  (void)status;
  memset(to->opaque, pattern, size);
}
static void Zero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to, uint64_t size,
                 TF_Status* status) {
  Fill(device, stream, to, 0, size, status);
}
static void Fill32(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to,
                   uint32_t pattern, uint64_t size, TF_Status* status) {
  (void)device;
  (void)stream;
  (void)status;
  char* const bytes = to->opaque;
  for (uint64_t done = 0; done + sizeof(pattern) <= size; done += sizeof(pattern))
    memcpy(bytes + done, &pattern, sizeof(pattern));
}

static void GetDeviceCount(const SP_Platform* platform, int* count, TF_Status* status) {
  (void)platform;
  (void)status;
  Trace("get_device_count");
  *count = UsesNextDevice() ? 0 : DeviceCount();
}
static void CreateDevice(const SP_Platform* platform, SE_CreateDeviceParams* params,
                         TF_Status* status) {
  (void)platform;
  (void)status;
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "Next";
}
static void DestroyDevice(const SP_Platform* platform, SP_Device* device) {
  (void)platform;
  (void)device;
}
static void CreateDeviceFns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                            TF_Status* status) {
  (void)platform;
  (void)status;
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
}
static void DestroyDeviceFns(const SP_Platform* platform, SP_DeviceFns* functions) {
  (void)platform;
  (void)functions;
}
static void CreateStreamExecutor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                 TF_Status* status) {
  (void)platform;
  (void)status;
  SP_StreamExecutor* const table = params->stream_executor;
  table->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  table->allocate = Allocate;
  table->deallocate = Deallocate;
  table->host_memory_allocate = HostAllocate;
  table->host_memory_deallocate = HostDeallocate;
  table->get_allocator_stats = AllocatorStats;
  table->device_memory_usage = MemoryUsage;
  table->create_stream = CreateStream;
  table->destroy_stream = DestroyStream;
  table->create_stream_dependency = StreamDependency;
  table->get_stream_status = StreamStatus;
  table->create_event = CreateEvent;
  table->destroy_event = DestroyEvent;
  table->get_event_status = EventStatus;
  table->record_event = StreamEvent;
  table->wait_for_event = StreamEvent;
  table->memcpy_dtoh = ToHost;
  table->memcpy_htod = ToDevice;
  table->memcpy_dtod = Between;
  table->sync_memcpy_dtoh = ToHostNow;
  table->sync_memcpy_htod = ToDeviceNow;
  table->block_host_for_event = BlockForEvent;
  table->synchronize_all_activity = Synchronize;
  table->mem_zero = Zero;
  table->memset = Fill;
  table->memset32 = Fill32;
  table->host_callback = HostCallback;
}
static void DestroyStreamExecutor(const SP_Platform* platform, SP_StreamExecutor* executor) {
  (void)platform;
  (void)executor;
}
static void DestroyPlatform(SP_Platform* platform) { (void)platform; }
static void DestroyPlatformFns(SP_PlatformFns* functions) { (void)functions; }

NEXT_DEVICE_ENTRY_POINT void SE_InitPlugin(SE_PlatformRegistrationParams* params,
                                           TF_Status* status) {
  (void)status;
  Trace("SE_InitPlugin");
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  SP_Platform* const platform = params->platform;
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = UsesNextDevice() ? NEXT_DEVICE_UNUSED_TYPE : NEXT_DEVICE_TYPE;
  platform->type = platform->name;
  SP_PlatformFns* const functions = params->platform_fns;
  functions->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  functions->get_device_count = GetDeviceCount;
  functions->create_device = CreateDevice;
  functions->destroy_device = DestroyDevice;
  functions->create_device_fns = CreateDeviceFns;
  functions->destroy_device_fns = DestroyDeviceFns;
  functions->create_stream_executor = CreateStreamExecutor;
  functions->destroy_stream_executor = DestroyStreamExecutor;
  params->destroy_platform = DestroyPlatform;
  params->destroy_platform_fns = DestroyPlatformFns;
}
