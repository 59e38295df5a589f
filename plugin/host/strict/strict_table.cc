#include "plugin/host/strict/strict_table.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "graph/c_api/abi_watch.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/struct_size.h"
#include "plugin/host/strict/device_watch.h"

namespace tenon {
namespace {

// Short, since each function of the table has both.
using D = const SP_Device*;
using S = TF_Status*;

bool Ok(S status) { return TF_GetCode(status) == TF_OK; }

// --- Memory.

// Whether the host allocates. A plug-in may call the table too; memory that it allocates for itself
// gets no zone, since it may free it by other means.
bool IsForHost() {
  const CallbackInfo* const call = CurrentCallback();
  return call != nullptr && std::string_view(call->callback) == "allocate";
}

void AllocateReal(const DeviceWatch& watch, D d, uint64_t size, int64_t space,
                  SP_DeviceMemoryBase* memory) {
  Padded<SP_DeviceMemoryBase> padded;
  padded.value.struct_size = PresetStructSize(SP_DEVICE_MEMORY_BASE_STRUCT_SIZE);
  watch.real().allocate(d, size, space, &padded.value);
  *memory = padded.value;
}

void Allocate(D d, uint64_t size, int64_t space, SP_DeviceMemoryBase* memory) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  uint64_t zone = IsForHost() ? TensorGuards::kZone : 0;
  AllocateReal(watch, d, size + 2 * zone, space, memory);
  if (memory->opaque == nullptr && zone > 0) {  // perhaps there is room without the zones
    zone = 0;
    AllocateReal(watch, d, size, space, memory);
  }
  if (memory->opaque != nullptr) {
    memory->opaque = static_cast<char*>(memory->opaque) + zone;
    memory->size -= std::min(memory->size, 2 * zone);
  }
  watch.Allocated(*memory, size, zone);
}
// The plug-in gets back the address that it gave out, before the zone.
void Deallocate(D d, SP_DeviceMemoryBase* memory) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  const std::optional<uint64_t> zone = watch.Freed(memory->opaque);
  if (!zone.has_value()) return;
  SP_DeviceMemoryBase real = *memory;
  real.opaque = static_cast<char*>(memory->opaque) - *zone;
  watch.real().deallocate(d, &real);
}
TF_Bool GetAllocatorStats(D d, SP_AllocatorStats* stats) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  Padded<SP_AllocatorStats> padded;
  padded.value.struct_size = PresetStructSize(SP_ALLOCATORSTATS_STRUCT_SIZE);
  const TF_Bool known = watch.real().get_allocator_stats(d, &padded.value);
  *stats = padded.value;
  if (known)
    WatchStructSize(stats->struct_size, "SP_AllocatorStats", "SP_ALLOCATORSTATS_STRUCT_SIZE");
  return known;
}
void* HostMemoryAllocate(D d, uint64_t size) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  void* memory = watch.real().host_memory_allocate(d, size);
  watch.HostAllocated(memory, size);
  return memory;
}
void HostMemoryDeallocate(D d, void* memory) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  if (watch.HostFreed(memory)) watch.real().host_memory_deallocate(d, memory);
}

// --- Streams and events.

void CreateStream(D d, SP_Stream* stream, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.real().create_stream(d, stream, status);
  if (Ok(status)) watch.StreamMade(*stream);
}
// Noted before the call: once the plug-in has destroyed the stream, another thread may get its
// address for a new one.
void DestroyStream(D d, SP_Stream stream) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.StreamGone(stream);
  watch.real().destroy_stream(d, stream);
}
// The mark goes behind the work of `other`, on which `waiting` then builds.
void CreateStreamDependency(D d, SP_Stream waiting, SP_Stream other, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.Mark(d, other);
  watch.real().create_stream_dependency(d, waiting, other, status);
  if (Ok(status)) watch.Depends(waiting, other);
}
void CreateEvent(D d, SP_Event* event, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.real().create_event(d, event, status);
  if (Ok(status)) watch.EventMade(*event);
}
void DestroyEvent(D d, SP_Event event) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.EventGone(event);
  watch.real().destroy_event(d, event);
}
SE_EventStatus GetEventStatus(D d, SP_Event event) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.MustBeRecorded(event);
  const StreamClock at = watch.At(event);
  const bool was_done = watch.IsDone(at);  // asked before, so that the answer cannot make it true
  const SE_EventStatus status = watch.real().get_event_status(d, event);
  if (status == SE_EVENT_COMPLETE) watch.LearnDone(at, "an event is complete");
  if (status == SE_EVENT_PENDING && was_done) {
    AbiWatch::Active()->Report("event_goes_back",
                               "an event is pending that was complete, or that lies before a later "
                               "event or a synchronization that said so");
  }
  return status;
}
// Notes the record before the call: the work may be done, and another thread may ask about the
// event, before the call returns.
void RecordEvent(D d, SP_Stream stream, SP_Event event, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.Mark(d, stream);
  watch.Recorded(stream, event);
  watch.real().record_event(d, stream, event, status);
}
void WaitForEvent(const SP_Device* const d, SP_Stream stream, SP_Event event,
                  TF_Status* const status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.MustBeRecorded(event);
  watch.real().wait_for_event(d, stream, event, status);
  if (Ok(status)) watch.WaitsFor(stream, event);
}
void BlockHostForEvent(D d, SP_Event event, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.MustBeRecorded(event);
  const StreamClock at = watch.At(event);
  watch.real().block_host_for_event(d, event, status);
  if (Ok(status)) watch.LearnDone(at, "an event was waited for");
}
// The clock is read before the call: only the work that was queued by then is done after it.
void BlockHostUntilDone(D d, SP_Stream stream, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.Mark(d, stream);
  const StreamClock at = watch.At(stream);
  watch.real().block_host_until_done(d, stream, status);
  if (Ok(status)) watch.LearnDone(at, "a stream was waited for");
}
void SynchronizeAllActivity(D d, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  const StreamClock at = watch.AtAll();
  watch.real().synchronize_all_activity(d, status);
  if (Ok(status)) watch.LearnDone(at, "the device was waited for");
}

// --- Copies and fills. Addresses are checked before the plug-in gets them, and the work is noted
// before the call: it may be done when the call returns.

void MemcpyDeviceToHost(D d, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from,
                        uint64_t size, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("source", from->opaque, size);
  watch.HostAddress("target", to, size);
  watch.Queued(stream, {from->opaque});
  watch.real().memcpy_dtoh(d, stream, to, from, size, status);
}
void MemcpyHostToDevice(D d, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from,
                        uint64_t size, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("target", to->opaque, size);
  watch.HostAddress("source", from, size);
  watch.Queued(stream, {to->opaque});
  watch.real().memcpy_htod(d, stream, to, from, size, status);
}
// Does not check the target: it may be memory of another device of the type, which has its own
// watch.
void MemcpyDeviceToDevice(D d, SP_Stream stream, SP_DeviceMemoryBase* to,
                          const SP_DeviceMemoryBase* from, uint64_t size, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("source", from->opaque, size);
  watch.Queued(stream, {from->opaque, to->opaque});
  watch.real().memcpy_dtod(d, stream, to, from, size, status);
}
void SyncMemcpyDeviceToHost(D d, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                            S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("source", from->opaque, size);
  watch.HostAddress("target", to, size);
  watch.real().sync_memcpy_dtoh(d, to, from, size, status);
}
void SyncMemcpyHostToDevice(D d, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                            S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("target", to->opaque, size);
  watch.HostAddress("source", from, size);
  watch.real().sync_memcpy_htod(d, to, from, size, status);
}
void MemZero(D d, SP_Stream stream, SP_DeviceMemoryBase* at, uint64_t size, S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("target", at->opaque, size);
  watch.Queued(stream, {at->opaque});
  watch.real().mem_zero(d, stream, at, size, status);
}
void Memset(D d, SP_Stream stream, SP_DeviceMemoryBase* at, uint8_t pattern, uint64_t size,
            S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("target", at->opaque, size);
  watch.Queued(stream, {at->opaque});
  watch.real().memset(d, stream, at, pattern, size, status);
}
void Memset32(D d, SP_Stream stream, SP_DeviceMemoryBase* at, uint32_t pattern, uint64_t size,
              S status) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.DeviceAddress("target", at->opaque, size);
  watch.Queued(stream, {at->opaque});
  watch.real().memset32(d, stream, at, pattern, size, status);
}
TF_Bool HostCallback(D d, SP_Stream stream, SE_StatusCallbackFn callback, void* argument) {
  DeviceWatch& watch = DeviceWatch::Of(d);
  watch.Queued(stream, {});
  return watch.real().host_callback(d, stream, callback, argument);
}

// Replaces only a function that the plug-in has: the host sees by null what is missing.
template <typename Fn>
void Replace(Fn*& entry, Fn* by) {
  if (entry != nullptr) entry = by;
}

}  // namespace

SP_StreamExecutor StrictTable(const SP_StreamExecutor& real) {
  SP_StreamExecutor table = real;
  Replace(table.allocate, Allocate);
  Replace(table.deallocate, Deallocate);
  Replace(table.get_allocator_stats, GetAllocatorStats);
  Replace(table.host_memory_allocate, HostMemoryAllocate);
  Replace(table.host_memory_deallocate, HostMemoryDeallocate);
  Replace(table.create_stream, CreateStream);
  Replace(table.destroy_stream, DestroyStream);
  Replace(table.create_stream_dependency, CreateStreamDependency);
  Replace(table.create_event, CreateEvent);
  Replace(table.destroy_event, DestroyEvent);
  Replace(table.get_event_status, GetEventStatus);
  Replace(table.record_event, RecordEvent);
  Replace(table.wait_for_event, WaitForEvent);
  Replace(table.memcpy_dtoh, MemcpyDeviceToHost);
  Replace(table.memcpy_htod, MemcpyHostToDevice);
  Replace(table.memcpy_dtod, MemcpyDeviceToDevice);
  Replace(table.sync_memcpy_dtoh, SyncMemcpyDeviceToHost);
  Replace(table.sync_memcpy_htod, SyncMemcpyHostToDevice);
  Replace(table.block_host_for_event, BlockHostForEvent);
  Replace(table.block_host_until_done, BlockHostUntilDone);
  Replace(table.synchronize_all_activity, SynchronizeAllActivity);
  Replace(table.mem_zero, MemZero);
  Replace(table.memset, Memset);
  Replace(table.memset32, Memset32);
  Replace(table.host_callback, HostCallback);
  return table;
}

}  // namespace tenon
