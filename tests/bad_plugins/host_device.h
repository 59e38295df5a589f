// A device whose memory is the host's and whose streams are done at once, for test plug-ins.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

// Before calls into the plug-in's own part: `At(callback, status)`; status may be null.
template <void (*At)(const char*, TF_Status*)>
void FillExecutor(SP_StreamExecutor* se) {
  *se = {};
  se->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  se->allocate = [](const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* mem) {
    At("allocate", nullptr);
    mem->opaque = std::malloc(size);
  };
  se->deallocate = [](const SP_Device*, SP_DeviceMemoryBase* mem) {
    std::free(mem->opaque);
    At("deallocate", nullptr);
  };
  se->host_memory_allocate = [](const SP_Device*, uint64_t size) { return std::malloc(size); };
  se->host_memory_deallocate = [](const SP_Device*, void* mem) { std::free(mem); };
  se->get_allocator_stats = [](const SP_Device*, SP_AllocatorStats*) -> TF_Bool { return 0; };
  se->device_memory_usage = [](const SP_Device*, int64_t* free, int64_t* total) -> TF_Bool {
    At("device_memory_usage", nullptr);
    *free = *total = int64_t{1} << 30;
    return 1;
  };
  se->create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status* status) {
    At("create_stream", status);
    *stream = static_cast<SP_Stream>(std::malloc(1));
  };
  se->destroy_stream = [](const SP_Device*, SP_Stream stream) {
    std::free(stream);
    At("destroy_stream", nullptr);
  };
  se->create_stream_dependency = [](const SP_Device*, SP_Stream, SP_Stream, TF_Status* status) {
    At("create_stream_dependency", status);
  };
  se->get_stream_status = [](const SP_Device*, SP_Stream, TF_Status*) {};
  se->create_event = [](const SP_Device*, SP_Event* event, TF_Status* status) {
    At("create_event", status);
    *event = static_cast<SP_Event>(std::malloc(1));
  };
  se->destroy_event = [](const SP_Device*, SP_Event event) {
    std::free(event);
    At("destroy_event", nullptr);
  };
  se->get_event_status = [](const SP_Device*, SP_Event) {
    At("get_event_status", nullptr);
    return SE_EVENT_COMPLETE;
  };
  se->record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status* status) {
    At("record_event", status);
  };
  se->wait_for_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {};
  se->memcpy_dtoh = [](const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from,
                       uint64_t size, TF_Status* status) {
    At("memcpy_dtoh", status);
    std::memcpy(to, from->opaque, size);
  };
  se->memcpy_htod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from,
                       uint64_t size, TF_Status* status) {
    At("memcpy_htod", status);
    std::memcpy(to->opaque, from, size);
  };
  se->sync_memcpy_dtoh = [](const SP_Device*, void* to, const SP_DeviceMemoryBase* from,
                            uint64_t size, TF_Status*) { std::memcpy(to, from->opaque, size); };
  se->sync_memcpy_htod = [](const SP_Device*, SP_DeviceMemoryBase* to, const void* from,
                            uint64_t size, TF_Status*) { std::memcpy(to->opaque, from, size); };
  se->block_host_for_event = [](const SP_Device*, SP_Event, TF_Status* status) {
    At("block_host_for_event", status);
  };
  se->synchronize_all_activity = [](const SP_Device*, TF_Status*) {};
  se->host_callback = [](const SP_Device*, SP_Stream, SE_StatusCallbackFn, void*) -> TF_Bool {
    return 0;
  };
  se->mem_zero = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase*, uint64_t, TF_Status*) {};
  se->memset = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase*, uint8_t, uint64_t,
                  TF_Status*) {};
  se->memset32 = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase*, uint32_t, uint64_t,
                    TF_Status*) {};
}
