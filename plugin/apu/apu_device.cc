// SE_InitPlugin: the platform, its devices (one, unless apu_pace.h says more), and the table of
// memory and stream functions.

#include <cerrno>
#include <cstring>
#include <string>

#include "apu_clock.h"
#include "apu_memory.h"
#include "apu_pace.h"
#include "apu_status.h"
#include "apu_stream.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace apu {
namespace {

constexpr size_t kCapacity = size_t{1} << 30;  // 1 GiB

DeviceMemory& MemoryOf(const SP_Device* device) {
  return *static_cast<DeviceMemory*>(device->device_handle);
}

// The address at which the plug-in reaches device memory. NULL, and an error in `status`, for bytes
// that are not in the device's memory.
char* Reach(const SP_Device* device, const SP_DeviceMemoryBase* memory, uint64_t size,
            TF_Status* status) {
  char* bytes = MemoryOf(device).Reach(memory->opaque, size);
  if (bytes == nullptr) {
    const std::string message =
        "APU: " + std::to_string(size) + " bytes at an address that is not in device memory";
    TF_SetStatus(status, TF_INVALID_ARGUMENT, message.c_str());
  }
  return bytes;
}

// --- Memory ---

void Allocate(const SP_Device* device, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = nullptr;
  try {
    memory->opaque = MemoryOf(device).Allocate(size);
  } catch (const std::exception&) {  // the callback has no status: NULL is its error
  }
  memory->size = memory->opaque == nullptr ? 0 : size;
}

// memory->size is 0 here: the host keeps only the address.
void Deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  MemoryOf(device).Deallocate(memory->opaque);
}

void* HostMemoryAllocate(const SP_Device* device, uint64_t size) {
  try {
    if (VirtualClock* const clock = VirtualClock::Get())
      clock->Log("host_memory " + std::to_string(size));
    return MemoryOf(device).host().Allocate(size);
  } catch (const std::exception&) {  // the callback has no status: NULL is its error
    return nullptr;
  }
}

void HostMemoryDeallocate(const SP_Device* device, void* memory) {
  MemoryOf(device).host().Deallocate(memory);
}

TF_Bool GetAllocatorStats(const SP_Device* device, SP_AllocatorStats* stats) {
  const DeviceMemory::Stats now = MemoryOf(device).GetStats();
  stats->num_allocs = now.allocations;
  stats->bytes_in_use = now.bytes_in_use;
  stats->peak_bytes_in_use = now.peak_bytes_in_use;
  stats->largest_alloc_size = now.largest_allocation;
  stats->has_bytes_limit = 1;
  stats->bytes_limit = now.capacity;
  stats->largest_free_block_bytes = now.largest_free_block;
  return 1;
}

TF_Bool DeviceMemoryUsage(const SP_Device* device, int64_t* free, int64_t* total) {
  const DeviceMemory::Stats now = MemoryOf(device).GetStats();
  *free = now.capacity - now.bytes_in_use;
  *total = now.capacity;
  return 1;
}

// --- Streams and events ---

void HostSees(const Marker& marker) {
  if (VirtualClock* const clock = VirtualClock::Get()) clock->HostSees(marker.time());
}

void HostWaits(Marker& marker) {
  marker.Wait();
  HostSees(marker);
}

void CreateStream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  Guard(status, [&] { *stream = new SP_Stream_st(MemoryOf(device)); });
}

void DestroyStream(const SP_Device*, SP_Stream stream) { delete stream; }

void CreateStreamDependency(const SP_Device*, SP_Stream dependent, SP_Stream other,
                            TF_Status* status) {
  Guard(status, [&] { dependent->WaitFor(other->Mark()); });
}

// Addresses are checked before work is queued, and what is queued cannot fail.
void GetStreamStatus(const SP_Device*, SP_Stream, TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
}

void CreateEvent(const SP_Device*, SP_Event* event, TF_Status* status) {
  Guard(status, [&] { *event = new SP_Event_st; });
}

void DestroyEvent(const SP_Device*, SP_Event event) { delete event; }

SE_EventStatus GetEventStatus(const SP_Device*, SP_Event event) {
  const std::shared_ptr<Marker> marker = event->marker();
  if (marker == nullptr) return SE_EVENT_COMPLETE;
  if (!marker->reached()) return SE_EVENT_PENDING;
  HostSees(*marker);
  return SE_EVENT_COMPLETE;
}

void RecordEvent(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  Guard(status, [&] { event->Record(*stream); });
}

void WaitForEvent(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  Guard(status, [&] {
    if (std::shared_ptr<Marker> marker = event->marker()) stream->WaitFor(std::move(marker));
  });
}

void BlockHostForEvent(const SP_Device*, SP_Event event, TF_Status*) {
  if (const std::shared_ptr<Marker> marker = event->marker()) HostWaits(*marker);
}

void BlockHostUntilDone(const SP_Device*, SP_Stream stream, TF_Status* status) {
  Guard(status, [&] { HostWaits(*stream->Mark()); });
}

void SynchronizeAllActivity(const SP_Device*, TF_Status* status) {
  Guard(status, [] {
    for (const std::shared_ptr<Marker>& marker : Stream::MarkAll()) HostWaits(*marker);
  });
}

// --- Copies and fills. Those without a stream are done on return ---

void MemcpyDeviceToHost(const SP_Device* device, SP_Stream stream, void* target,
                        const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    const char* from = Reach(device, source, size, status);
    if (from != nullptr) {
      const HostMemory* const host = &MemoryOf(device).host();
      stream->Enqueue([=] {
        const bool is_pinned = host->Holds(target, size);
        const Paced paced("to_host", Pace::Get().OfHostCopy(size, is_pinned));
        std::memcpy(target, from, size);
      });
    }
  });
}

void MemcpyHostToDevice(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target,
                        const void* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    char* to = Reach(device, target, size, status);
    if (to != nullptr) {
      const HostMemory* const host = &MemoryOf(device).host();
      stream->Enqueue([=] {
        const bool is_pinned = host->Holds(source, size);
        const Paced paced("to_device", Pace::Get().OfHostCopy(size, is_pinned));
        std::memcpy(to, source, size);
      });
    }
  });
}

void MemcpyDeviceToDevice(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target,
                          const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    char* to = Reach(device, target, size, status);
    const char* from = Reach(device, source, size, status);
    if (to != nullptr && from != nullptr) {
      stream->Enqueue([=] {
        const Paced paced("within", Pace::Get().OfCopy(size));
        std::memmove(to, from, size);
      });
    }
  });
}

void SyncMemcpyDeviceToHost(const SP_Device* device, void* target,
                            const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    const char* from = Reach(device, source, size, status);
    if (from != nullptr) std::memcpy(target, from, size);
  });
}

void SyncMemcpyHostToDevice(const SP_Device* device, SP_DeviceMemoryBase* target,
                            const void* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    char* to = Reach(device, target, size, status);
    if (to != nullptr) std::memcpy(to, source, size);
  });
}

void SyncMemcpyDeviceToDevice(const SP_Device* device, SP_DeviceMemoryBase* target,
                              const SP_DeviceMemoryBase* source, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    char* to = Reach(device, target, size, status);
    const char* from = Reach(device, source, size, status);
    if (to != nullptr && from != nullptr) std::memmove(to, from, size);
  });
}

void Memset(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target, uint8_t pattern,
            uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    char* to = Reach(device, target, size, status);
    if (to != nullptr) stream->Enqueue([=] { std::memset(to, pattern, size); });
  });
}

void MemZero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target, uint64_t size,
             TF_Status* status) {
  Memset(device, stream, target, 0, size, status);
}

void Memset32(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* target,
              uint32_t pattern, uint64_t size, TF_Status* status) {
  Guard(status, [&] {
    char* to = Reach(device, target, size, status);
    if (to == nullptr) return;
    stream->Enqueue([=] {
      for (uint64_t done = 0; done + sizeof(pattern) <= size; done += sizeof(pattern)) {
        std::memcpy(to + done, &pattern, sizeof(pattern));
      }
    });
  });
}

// Queues a call of the host's function. TF_Bool is all that the callback can return, so the status
// that the function sets later is dropped.
TF_Bool HostCallback(const SP_Device*, SP_Stream stream, SE_StatusCallbackFn callback,
                     void* argument) {
  try {
    stream->Enqueue([=] {
      const StatusPtr status(TF_NewStatus());
      callback(argument, status.get());
    });
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}

// --- Device and platform ---

int32_t GetNumaNode(const SP_Device*) { return 0; }
int64_t GetMemoryBandwidth(const SP_Device*) { return -1; }
double GetGflops(const SP_Device*) { return -1; }

void GetDeviceCount(const SP_Platform*, int* count, TF_Status*) { *count = Pace::Get().devices(); }

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  SP_Device* device = params->device;
  device->struct_size = SP_DEVICE_STRUCT_SIZE;
  device->ordinal = params->ordinal;
  device->hardware_name = "APU demonstration device";
  device->device_vendor = "Tenon";
  Guard(status, [&] {
    device->device_handle = DeviceMemory::Create(kCapacity).release();
    if (device->device_handle != nullptr) return;
    const std::string message = std::string("APU: no device memory: ") + std::strerror(errno);
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, message.c_str());
  });
}

void DestroyDevice(const SP_Platform*, SP_Device* device) {
  delete static_cast<DeviceMemory*>(device->device_handle);
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
}  // namespace apu

APU_ENTRY_POINT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status*) {
  SP_Platform* platform = params->platform;
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = "APU";
  platform->type = "APU";
  platform->use_bfc_allocator = 1;
  platform->force_memory_growth = 1;

  SP_PlatformFns* functions = params->platform_fns;
  functions->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  functions->get_device_count = apu::GetDeviceCount;
  functions->create_device = apu::CreateDevice;
  functions->destroy_device = apu::DestroyDevice;
  functions->create_device_fns = apu::CreateDeviceFns;
  functions->destroy_device_fns = apu::DestroyDeviceFns;
  functions->create_stream_executor = apu::CreateStreamExecutor;
  functions->destroy_stream_executor = apu::DestroyStreamExecutor;
  // TensorFlow calls this even for a plug-in without timers.
  functions->destroy_timer_fns = apu::DestroyTimerFns;

  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->destroy_platform = apu::DestroyPlatform;
  params->destroy_platform_fns = apu::DestroyPlatformFns;
}
