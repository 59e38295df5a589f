// The class behind pluggable_device.h. Its methods stand in pluggable_device.cc,
// pluggable_memory.cc and pluggable_calls.cc. Private to plugin/host/devices/.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/device/bfc_allocator.h"
#include "plugin/device/compute_streams.h"
#include "plugin/host/devices/arrival_pool.h"
#include "plugin/host/devices/host_pool.h"
#include "plugin/host/devices/host_staging.h"
#include "plugin/host/devices/pluggable_device.h"
#include "plugin/host/devices/plugin_device.h"
#include "plugin/host/devices/stream_memory.h"

namespace tenon {

inline SP_Stream ToC(StreamHandle handle) { return static_cast<SP_Stream>(handle); }
// The plug-in gets back the address that it gave out, or one within the block. The payload that it
// gave out is not kept, as in TensorFlow.
inline SP_DeviceMemoryBase MemoryAt(void* data, size_t bytes) {
  return {SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, nullptr, data, bytes, 0};
}

// Thread-safe after Start, as each Device.
class PluggableDevice final : public Device, public ComputeStreams, public RegionSource {
 public:
  // Calls create_device. `platform_ordinal` is the plug-in's number of the device, `ordinal` the
  // host's. No method may be called before Start but the destructor.
  static absl::StatusOr<std::unique_ptr<PluggableDevice>> Create(
      std::shared_ptr<StreamExecutorPlatform> platform, int platform_ordinal, int ordinal);
  // With `use_bfc_allocator` asks for the memory limit and makes the allocator. Asks for the facts,
  // and makes the streams. On an error the caller destroys the device.
  absl::Status Start();
  // Waits for the streams, without a time limit, then destroys memory, events, streams and the
  // device. Without the BFC allocator, memory that tensors still have is left to destroy_device.
  // Warns of errors.
  ~PluggableDevice() override;

  std::string_view type() const override { return platform_->type(); }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return platform_->plugin(); }
  int priority() const override { return 220; }  // TensorFlow's number for devices of plug-ins
  int64_t memory_bytes() const override { return memory_limit_; }
  bool is_host() const override { return false; }
  absl::StatusOr<BufferRef> Allocate(size_t bytes) override;
  absl::StatusOr<BufferRef> AllocateForArrival(StreamHandle stream, size_t bytes) override;
  StreamHandle compute_stream() override { return streams_[kCompute].handle; }
  int MakeComputeStreams(int count) override;
  StreamHandle compute_stream_at(int number) override {
    return number == 0 ? compute_stream() : further_[number - 1]->handle;
  }
  absl::StatusOr<BufferRef> AllocateOn(int number, size_t bytes) override;
  StreamHandle host_to_device_stream() override { return streams_[kHostToDevice].handle; }
  StreamHandle device_to_host_stream() override { return streams_[kDeviceToHost].handle; }
  StreamHandle device_to_device_stream() override { return streams_[kDeviceToDevice].handle; }
  absl::Status StreamWaitsForStream(StreamHandle stream, StreamHandle other) override;
  absl::Status CopyHostToDevice(StreamHandle stream, const Tensor& host,
                                const Tensor& device) override;
  absl::Status CopyDeviceToHost(StreamHandle stream, const Tensor& device,
                                const Tensor& host) override;
  bool copies_between() const override { return se().memcpy_dtod != nullptr; }
  absl::Status CopyDeviceToDevice(StreamHandle stream, const Tensor& from,
                                  const Tensor& to) override;
  absl::StatusOr<EventHandle> AcquireEvent() override;
  void ReleaseEvent(EventHandle event) override;
  absl::Status StreamWaitsForEvent(StreamHandle stream, EventHandle event) override;
  absl::Status RecordEvent(StreamHandle stream, EventHandle event) override;
  absl::Status BlockUntilComplete(EventHandle event, double timeout_s) override;
  absl::Status SynchronizeAllActivity() override;
  absl::Status HostCallback(StreamHandle stream, std::function<absl::Status()> callback) override;
  BufferRef AllocateHost(size_t bytes) override {
    return staging_ == nullptr ? BufferRef() : staging_->AllocateTarget(bytes);
  }
  bool has_own_host_memory(size_t bytes) const override {
    return staging_ != nullptr && staging_->wants_target(bytes);
  }

  const DeviceFacts& facts() const { return facts_; }
  HostStagingFacts staging_facts() const;
  // Queues one memcpy_htod, without a block of host memory in between.
  absl::Status QueueToDevice(StreamHandle stream, const void* host, void* device, size_t bytes);
  // Asks once. INTERNAL if the device reports an error or an unknown state.
  absl::StatusOr<bool> IsComplete(EventHandle event);

  // --- The rest of a plug-in's table (pluggable_calls.cc). Each method but BlockUntilStreamDone is
  // one callback, whose error it returns or, if it returns nothing, warns of.

  // UNIMPLEMENTED unless the platform supports unified memory. INTERNAL for null, unless `bytes` is
  // 0. The caller frees the memory by FreeUnifiedMemory.
  absl::StatusOr<void*> AllocateUnifiedMemory(size_t bytes);
  void FreeUnifiedMemory(void* data);
  // nullopt if the plug-in does not know.
  absl::StatusOr<std::optional<SP_AllocatorStats>> AllocatorStats();
  // Free and total bytes; nullopt if the plug-in does not know.
  absl::StatusOr<std::optional<std::pair<int64_t, int64_t>>> MemoryUsage();
  absl::Status StreamStatus(StreamHandle stream);
  // By block_host_until_done; for a plug-in without it, by an event and block_host_for_event. No
  // time limit but the plug-in's.
  absl::Status BlockUntilStreamDone(StreamHandle stream);
  // Copy `bytes` bytes and return when the copy is complete. No stream orders them.
  absl::Status CopyHostToDeviceNow(const void* host, void* device, size_t bytes);
  absl::Status CopyDeviceToHostNow(void* device, void* host, size_t bytes);
  // Queue a filling on the stream. `bytes` is a multiple of 4 for FillMemory32.
  absl::Status ZeroMemory(StreamHandle stream, void* device, size_t bytes);
  absl::Status FillMemory32(StreamHandle stream, void* device, uint32_t pattern, size_t bytes);

 private:
  enum StreamKind { kCompute, kHostToDevice, kDeviceToHost, kDeviceToDevice, kNumStreams };
  struct Stream {
    SP_Stream handle = nullptr;
    bool created = false;
    absl::Mutex mutex;  // held while a callback queues work on the stream or asks for its status
  };
  // A compute stream beyond the first.
  struct FurtherStream : Stream {
    std::unique_ptr<StreamMemory> memory;  // null without the BFC allocator
  };
  struct Event {
    SP_Event handle = nullptr;
    bool is_twin = false;  // another event has the handle, and it is destroyed with that one
    std::atomic<bool> pending{false};  // recorded and not yet seen complete
    std::atomic<bool> broken{false};   // the answer was ERROR, UNKNOWN or thrown: never used again
  };
  // Tensors' memory that nobody refers to, but queued work may still use. It may be freed when the
  // events, one on each compute stream, are complete.
  struct Retired {
    absl::InlinedVector<Event*, 1> events;
    std::vector<void*> memory;
  };
  // The way from a buffer to its device. Device and buffers share it, since buffers may outlive the
  // device.
  struct Owner {
    absl::Mutex mutex;
    PluggableDevice* device ABSL_GUARDED_BY(mutex) = nullptr;
  };

  PluggableDevice() = default;

  const SP_StreamExecutor& se() const { return platform_->se(); }
  // Calls `fn`. An exception becomes an error that names callback, plug-in and device.
  template <typename Fn>
  absl::Status Call(const char* callback, Fn&& fn) const {
    return Attributed(CallPlugin(platform_->plugin().c_str(), callback, "", std::forward<Fn>(fn)),
                      callback);
  }
  // Call, for a callback that reports through a TF_Status.
  template <typename Fn>
  absl::Status CallWithStatus(const char* callback, Fn&& fn) const {
    CStatus status;
    absl::Status called =
        CallPlugin(platform_->plugin().c_str(), callback, "", [&] { fn(status.get()); });
    return Attributed(called.ok() ? status.ToStatus() : called, callback);
  }
  absl::Status Attributed(absl::Status status, std::string_view callback) const;

  absl::Status QueryMemory();
  void QueryFacts();
  absl::Status CreateStream(Stream& stream);
  absl::Mutex* StreamMutex(StreamHandle handle);
  absl::Status MakeFurtherStream();
  absl::Status CheckCopy(const Tensor& from, const Tensor& to) const;
  template <typename Enough>
  absl::StatusOr<SE_EventStatus> PollUntil(Event* event, Enough enough);
  absl::StatusOr<SE_EventStatus> Poll(Event* event);
  void DestroyEvent(Event* event);

  // pluggable_memory.cc
  BfcOptions OptionsOfMemory() const;
  void MakeBfcAllocator();
  absl::StatusOr<void*> AllocateRegion(size_t bytes) override;
  void FreeRegion(void* data, size_t bytes) override;
  absl::StatusOr<BufferRef> AllocateSingle(size_t bytes);
  static void ReleaseSingle(void* data, size_t bytes, void* arg);
  void Retire(void* data);
  absl::StatusOr<absl::InlinedVector<Event*, 1>> EventsOfComputeStreams();
  absl::StatusOr<bool> IsOver(absl::Span<Event* const> events);
  void Release(absl::Span<Event* const> events);
  absl::Status FreeWhenIdle(const std::vector<void*>& memory);
  std::optional<Retired> TakeRetired();
  std::vector<void*> TakeAllRetired();
  void FreeRetired();

  // Goes last, and calls destroy_device unless tensors still have host memory of the plug-in.
  const std::shared_ptr<PluginDevice> plugin_device_ = std::make_shared<PluginDevice>();
  SP_Device& device_ = plugin_device_->device;
  std::shared_ptr<StreamExecutorPlatform> platform_;
  int platform_ordinal_ = 0;  // the plug-in's number of the device
  int ordinal_ = 0;           // the host's, among all devices of the type
  DeviceFacts facts_;
  int64_t memory_limit_ = 0;                 // bytes; 0: not asked for
  std::shared_ptr<ChunkWatch> chunk_watch_;  // null unless strict mode is on
  std::unique_ptr<BfcAllocator> bfc_;        // null: one allocation per tensor
  std::unique_ptr<ArrivalPool> arrivals_;    // null without bfc_ and in strict mode
  std::unique_ptr<HostStaging> staging_;     // null in strict mode
  std::array<Stream, kNumStreams> streams_;
  absl::Mutex making_mutex_;  // for the one thread that makes further streams
  bool makes_no_more_ ABSL_GUARDED_BY(making_mutex_) = false;
  // The first num_further_ are there for good. Compute stream i stands at i - 1.
  std::array<std::unique_ptr<FurtherStream>, kMostComputeStreams - 1> further_;
  std::atomic<int> num_further_{0};

  absl::Mutex events_mutex_;
  std::vector<std::unique_ptr<Event>> events_ ABSL_GUARDED_BY(events_mutex_);
  // Events that callers gave back: those that were seen complete, and the others, oldest first.
  std::vector<Event*> idle_events_ ABSL_GUARDED_BY(events_mutex_);
  std::vector<Event*> pending_events_ ABSL_GUARDED_BY(events_mutex_);

  std::shared_ptr<Owner> owner_;
  absl::Mutex freeing_mutex_;  // for the one thread that takes from retired_; before retired_mutex_
  absl::Mutex retired_mutex_;
  std::vector<void*> retiring_ ABSL_GUARDED_BY(retired_mutex_);  // no event recorded for these yet
  std::deque<Retired> retired_ ABSL_GUARDED_BY(retired_mutex_);  // oldest first
};

}  // namespace tenon
