// The parts of a plug-in's table that the executor does not use: unified memory, statistics,
// synchronous copies, fills, host callbacks.
#include "absl/status/status.h"
#include "graph/base/status_macros.h"
#include "plugin/device/pending_calls.h"
#include "plugin/host/devices/pluggable_device_impl.h"

namespace tenon {
namespace {

// The function that HostCallback queues.
using Queued = std::function<absl::Status()>;

// The plug-in calls this. A second call with the same handle finds nothing.
void RunQueued(void* const handle, TF_Status* const status) {
  const std::unique_ptr<Queued> queued(static_cast<Queued*>(TakePendingCall(handle)));
  if (queued != nullptr) StatusToC((*queued)(), status);
}

}  // namespace

absl::StatusOr<void*> PluggableDevice::AllocateUnifiedMemory(size_t bytes) {
  if (!platform_->platform()->supports_unified_memory) {
    return Attributed(absl::UnimplementedError("the platform does not support unified memory"),
                      "unified_memory_allocate");
  }
  void* data = nullptr;
  TENON_RETURN_IF_ERROR(Call("unified_memory_allocate",
                             [&] { data = se().unified_memory_allocate(&device_, bytes); }));
  if (data == nullptr && bytes > 0) {
    return Attributed(absl::InternalError("Failed to allocate unified memory"),
                      "unified_memory_allocate");
  }
  return data;
}

void PluggableDevice::FreeUnifiedMemory(void* data) {
  WarnOf(
      Call("unified_memory_deallocate", [&] { se().unified_memory_deallocate(&device_, data); }));
}

absl::StatusOr<std::optional<SP_AllocatorStats>> PluggableDevice::AllocatorStats() {
  SP_AllocatorStats stats{};
  stats.struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
  TF_Bool known = 0;
  TENON_RETURN_IF_ERROR(
      Call("get_allocator_stats", [&] { known = se().get_allocator_stats(&device_, &stats); }));
  return known ? std::optional<SP_AllocatorStats>(stats) : std::nullopt;
}

absl::StatusOr<std::optional<std::pair<int64_t, int64_t>>> PluggableDevice::MemoryUsage() {
  int64_t free = 0;
  int64_t total = 0;
  TF_Bool known = 0;
  TENON_RETURN_IF_ERROR(Call("device_memory_usage",
                             [&] { known = se().device_memory_usage(&device_, &free, &total); }));
  return known ? std::optional(std::pair(free, total)) : std::nullopt;
}

absl::Status PluggableDevice::StreamStatus(StreamHandle stream) {
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("get_stream_status",
                        [&](TF_Status* s) { se().get_stream_status(&device_, ToC(stream), s); });
}

absl::Status PluggableDevice::StreamWaitsForEvent(StreamHandle stream, EventHandle event) {
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("wait_for_event", [&](TF_Status* s) {
    se().wait_for_event(&device_, ToC(stream), static_cast<Event*>(event)->handle, s);
  });
}

// By block_host_until_done where the plug-in has it, else by an event.
absl::Status PluggableDevice::BlockUntilStreamDone(StreamHandle stream) {
  if (se().block_host_until_done != nullptr) {
    return CallWithStatus("block_host_until_done", [&](TF_Status* s) {
      se().block_host_until_done(&device_, ToC(stream), s);
    });
  }
  TENON_ASSIGN_OR_RETURN(EventHandle handle, AcquireEvent());
  absl::Status status = RecordEvent(stream, handle);
  if (status.ok()) {
    Event* event = static_cast<Event*>(handle);
    status = CallWithStatus("block_host_for_event", [&](TF_Status* s) {
      se().block_host_for_event(&device_, event->handle, s);
    });
    if (status.ok()) event->pending = false;
  }
  ReleaseEvent(handle);
  return status;
}

absl::Status PluggableDevice::CopyHostToDeviceNow(const void* host, void* device, size_t bytes) {
  SP_DeviceMemoryBase to = MemoryAt(device, bytes);
  return CallWithStatus("sync_memcpy_htod", [&](TF_Status* s) {
    se().sync_memcpy_htod(&device_, &to, host, bytes, s);
  });
}

absl::Status PluggableDevice::CopyDeviceToHostNow(void* device, void* host, size_t bytes) {
  const SP_DeviceMemoryBase from = MemoryAt(device, bytes);
  return CallWithStatus("sync_memcpy_dtoh", [&](TF_Status* s) {
    se().sync_memcpy_dtoh(&device_, host, &from, bytes, s);
  });
}

absl::Status PluggableDevice::ZeroMemory(StreamHandle stream, void* device, size_t bytes) {
  SP_DeviceMemoryBase at = MemoryAt(device, bytes);
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("mem_zero",
                        [&](TF_Status* s) { se().mem_zero(&device_, ToC(stream), &at, bytes, s); });
}

absl::Status PluggableDevice::FillMemory32(StreamHandle stream, void* device, uint32_t pattern,
                                           size_t bytes) {
  SP_DeviceMemoryBase at = MemoryAt(device, bytes);
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("memset32", [&](TF_Status* s) {
    se().memset32(&device_, ToC(stream), &at, pattern, bytes, s);
  });
}

absl::Status PluggableDevice::HostCallback(StreamHandle stream,
                                           std::function<absl::Status()> callback) {
  void* const queued = PendingCall(new Queued(std::move(callback)),
                                   std::make_shared<const ExpectedCaller>(
                                       ExpectedCaller{platform_->plugin(), "host_callback", ""}));
  TF_Bool accepted = 0;
  absl::Status called;
  {
    // A plug-in may run the callback at once, under this lock: the callback must not use the
    // stream.
    absl::MutexLock lock(StreamMutex(stream));
    called = Call("host_callback",
                  [&] { accepted = se().host_callback(&device_, ToC(stream), RunQueued, queued); });
  }
  // A plug-in that refuses the callback, or threw, does not own the handle. Should it call all the
  // same, TakePendingCall finds nothing.
  if (!accepted) delete static_cast<Queued*>(DropPendingCall(queued));
  if (called.ok() && !accepted)
    return Attributed(absl::InternalError("Failed to host callback."), "host_callback");
  return called;
}

}  // namespace tenon
