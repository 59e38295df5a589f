// SE_InitPlugin: the platform, its devices, and the table of memory and stream functions.

#include <cstring>
#include <string>

#include "device.h"
#include "status.h"
#include "stream.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "trace.h"

namespace opencl {
namespace {

Device& DeviceOf(const SP_Device* device) { return *static_cast<Device*>(device->device_handle); }

// --- Memory ---

void Allocate(const SP_Device* device, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = nullptr;
  try {
    memory->opaque = DeviceOf(device).memory().Allocate(size);
  } catch (const std::exception&) {  // the callback has no status: NULL is its error
  }
  memory->size = memory->opaque == nullptr ? 0 : size;
}

// memory->size is 0 here: the host keeps only the address.
void Deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  DeviceOf(device).memory().Deallocate(memory->opaque);
}

void* HostMemoryAllocate(const SP_Device* device, uint64_t size) {
  try {
    return DeviceOf(device).AllocateHost(size);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void HostMemoryDeallocate(const SP_Device* device, void* memory) {
  DeviceOf(device).FreeHost(memory);
}

TF_Bool GetAllocatorStats(const SP_Device* device, SP_AllocatorStats* stats) {
  const Memory& memory = DeviceOf(device).memory();
  const Memory::Stats now = memory.stats();
  stats->num_allocs = now.allocations;
  stats->bytes_in_use = now.bytes_in_use;
  stats->peak_bytes_in_use = now.peak_bytes_in_use;
  stats->largest_alloc_size = now.largest_allocation;
  stats->has_bytes_limit = 1;
  stats->bytes_limit = memory.limit();
  stats->largest_free_block_bytes = memory.limit() - now.bytes_in_use;
  return 1;
}

TF_Bool DeviceMemoryUsage(const SP_Device* device, int64_t* free, int64_t* total) {
  const Memory& memory = DeviceOf(device).memory();
  *total = memory.limit();
  *free = memory.limit() - memory.stats().bytes_in_use;
  return 1;
}

// --- Streams and events ---

void CreateStream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  Guard(status, [&] { *stream = new SP_Stream_st(DeviceOf(device)); });
}

void DestroyStream(const SP_Device*, SP_Stream stream) { delete stream; }

void CreateStreamDependency(const SP_Device*, SP_Stream dependent, SP_Stream other,
                            TF_Status* status) {
  Guard(status, [&] { dependent->WaitFor(other->Mark().get()); });
}

// A command that fails ends with an error in its event, and clFinish tells.
void GetStreamStatus(const SP_Device*, SP_Stream, TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
}

void CreateEvent(const SP_Device*, SP_Event* event, TF_Status* status) {
  Guard(status, [&] { *event = new SP_Event_st; });
}

void DestroyEvent(const SP_Device*, SP_Event event) { delete event; }

SE_EventStatus GetEventStatus(const SP_Device*, SP_Event event) { return event->Status(); }

void RecordEvent(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  Guard(status, [&] { event->Record(*stream); });
}

void WaitForEvent(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  Guard(status, [&] {
    if (const EventHandle shared = event->Share()) stream->WaitFor(shared.get());
  });
}

void BlockHostForEvent(const SP_Device*, SP_Event event, TF_Status* status) {
  Guard(status, [&] {
    const EventHandle shared = event->Share();
    cl_event handle = shared.get();
    if (shared) Check(clWaitForEvents(1, &handle), "clWaitForEvents");
  });
}

void BlockHostUntilDone(const SP_Device*, SP_Stream stream, TF_Status* status) {
  Guard(status, [&] { stream->Finish(); });
}

void SynchronizeAllActivity(const SP_Device* device, TF_Status* status) {
  Guard(status, [&] { DeviceOf(device).Synchronize(); });
}

// --- Copies and fills. Those without a stream are done on return ---

void Read(const SP_Device* device, cl_command_queue queue, cl_bool wait, void* target,
          const SP_DeviceMemoryBase* source, uint64_t size, cl_event* event = nullptr) {
  const Place from = DeviceOf(device).memory().Find(source->opaque, size);
  Check(clEnqueueReadBuffer(queue, from.buffer, wait, from.offset, size, target, 0, nullptr, event),
        "clEnqueueReadBuffer");
}

void Write(const SP_Device* device, cl_command_queue queue, cl_bool wait,
           const SP_DeviceMemoryBase* target, const void* source, uint64_t size,
           cl_event* event = nullptr) {
  const Place to = DeviceOf(device).memory().Find(target->opaque, size);
  Check(clEnqueueWriteBuffer(queue, to.buffer, wait, to.offset, size, source, 0, nullptr, event),
        "clEnqueueWriteBuffer");
}

void Copy(const SP_Device* device, cl_command_queue queue, const SP_DeviceMemoryBase* target,
          const SP_DeviceMemoryBase* source, uint64_t size, cl_event* event = nullptr) {
  if (target->opaque == source->opaque) return;
  const Place to = DeviceOf(device).memory().Find(target->opaque, size);
  const Place from = DeviceOf(device).memory().Find(source->opaque, size);
  Check(clEnqueueCopyBuffer(queue, from.buffer, to.buffer, from.offset, to.offset, size, 0, nullptr,
                            event),
        "clEnqueueCopyBuffer");
}

// The host records an event behind each copy: it is the copy's own (Stream::Touch). While a profile
// is taken, that event belongs to the profile.
template <typename Queue>
void QueueCopy(SP_Stream stream, const Traced& traced, Queue queue) {
  cl_event own = nullptr;
  queue(traced.event() != nullptr ? traced.event() : &own);
  stream->Touch(EventHandle(own));
}

void MemcpyDeviceToHost(const SP_Device* device, SP_Stream stream, void* target,
                        const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    const Traced traced(*stream, "copy to host");
    QueueCopy(stream, traced, [&](cl_event* event) {
      Read(device, stream->queue(), CL_FALSE, target, source, size, event);
    });
  });
}

void MemcpyHostToDevice(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target,
                        const void* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    const Traced traced(*stream, "copy to device");
    QueueCopy(stream, traced, [&](cl_event* event) {
      Write(device, stream->queue(), CL_FALSE, target, source, size, event);
    });
  });
}

void MemcpyDeviceToDevice(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target,
                          const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    const Traced traced(*stream, "copy");
    Copy(device, stream->queue(), target, source, size, traced.event());
    stream->Touch();
  });
}

void SyncMemcpyDeviceToHost(const SP_Device* device, void* target,
                            const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status,
        [&] { Read(device, DeviceOf(device).host_queue(), CL_TRUE, target, source, size); });
}

void SyncMemcpyHostToDevice(const SP_Device* device, SP_DeviceMemoryBase* target,
                            const void* source, uint64_t size, TF_Status* status) {
  Guard(status,
        [&] { Write(device, DeviceOf(device).host_queue(), CL_TRUE, target, source, size); });
}

void SyncMemcpyDeviceToDevice(const SP_Device* device, SP_DeviceMemoryBase* target,
                              const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    Copy(device, DeviceOf(device).host_queue(), target, source, size);
    Check(clFinish(DeviceOf(device).host_queue()), "clFinish");
  });
}

template <typename Pattern>
void Fill(const SP_Device* device, SP_Stream stream, const SP_DeviceMemoryBase* target,
          Pattern pattern, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    const Place to = DeviceOf(device).memory().Find(target->opaque, size);
    Check(clEnqueueFillBuffer(stream->queue(), to.buffer, &pattern, sizeof(pattern), to.offset,
                              size / sizeof(pattern) * sizeof(pattern), 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    stream->Touch();
  });
}

void Memset(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target, uint8_t pattern,
            uint64_t size, TF_Status* status) {
  Fill(device, stream, target, pattern, size, status);
}

void MemZero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target, uint64_t size,
             TF_Status* status) {
  Fill(device, stream, target, uint8_t{0}, size, status);
}

void Memset32(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target,
              uint32_t pattern, uint64_t size, TF_Status* status) {
  Fill(device, stream, target, pattern, size, status);
}

TF_Bool HostCallback(const SP_Device*, SP_Stream stream, SE_StatusCallbackFn callback,
                     void* argument) {
  try {
    stream->Call(callback, argument);
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}

// --- Device and platform ---

int32_t GetNumaNode(const SP_Device*) { return -1; }
int64_t GetMemoryBandwidth(const SP_Device*) { return -1; }
double GetGflops(const SP_Device*) { return -1; }

void GetDeviceCount(const SP_Platform*, int* count, TF_Status* status) {
  *count = 0;
  Guard(status, [&] { *count = static_cast<int>(UsableDevices().size()); });
}

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  SP_Device* device = params->device;
  device->struct_size = SP_DEVICE_STRUCT_SIZE;
  device->ordinal = params->ordinal;
  Guard(status, [&] {
    auto* made = new Device(UsableDevices().at(static_cast<size_t>(params->ordinal)));
    device->device_handle = made;
    device->hardware_name = made->name().c_str();
    device->device_vendor = made->vendor().c_str();
  });
}

void DestroyDevice(const SP_Platform*, SP_Device* device) {
  delete static_cast<Device*>(device->device_handle);
  device->device_handle = nullptr;
}

void CreateDeviceFns(const SP_Platform*, SE_CreateDeviceFnsParams* params, TF_Status*) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  params->device_fns->get_numa_node = GetNumaNode;
  params->device_fns->get_memory_bandwidth = GetMemoryBandwidth;
  params->device_fns->get_gflops = GetGflops;
}

// Unified memory and timers are left out: both are optional.
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
  table->sync_memcpy_dtod = SyncMemcpyDeviceToDevice;
  table->block_host_for_event = BlockHostForEvent;
  table->block_host_until_done = BlockHostUntilDone;
  table->synchronize_all_activity = SynchronizeAllActivity;
  table->mem_zero = MemZero;
  table->memset = Memset;
  table->memset32 = Memset32;
  table->host_callback = HostCallback;
}

// The structs hold nothing of ours but pointers to functions and static text.
void DestroyDeviceFns(const SP_Platform*, SP_DeviceFns*) {}
void DestroyStreamExecutor(const SP_Platform*, SP_StreamExecutor*) {}
void DestroyTimerFns(const SP_Platform*, SP_TimerFns*) {}
void DestroyPlatform(SP_Platform*) {}
void DestroyPlatformFns(SP_PlatformFns*) {}

}  // namespace
}  // namespace opencl

OPENCL_ENTRY_POINT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status*) {
  SP_Platform* platform = params->platform;
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = "OPENCL";
  platform->type = "OPENCL";
  platform->use_bfc_allocator = 1;
  platform->force_memory_growth = 1;

  SP_PlatformFns* functions = params->platform_fns;
  functions->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  functions->get_device_count = opencl::GetDeviceCount;
  functions->create_device = opencl::CreateDevice;
  functions->destroy_device = opencl::DestroyDevice;
  functions->create_device_fns = opencl::CreateDeviceFns;
  functions->destroy_device_fns = opencl::DestroyDeviceFns;
  functions->create_stream_executor = opencl::CreateStreamExecutor;
  functions->destroy_stream_executor = opencl::DestroyStreamExecutor;
  // TensorFlow calls this even for a plug-in without timers.
  functions->destroy_timer_fns = opencl::DestroyTimerFns;

  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->destroy_platform = opencl::DestroyPlatform;
  params->destroy_platform_fns = opencl::DestroyPlatformFns;
}
