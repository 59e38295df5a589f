// The executor's interface to a device: memory, in-order streams, events, copies. MakeCpuDevice
// implements it for the CPU, plugin/host/devices for a plug-in's StreamExecutor callbacks. All
// methods are thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// An in-order queue of device work. Opaque; owned by its device.
using StreamHandle = void*;
// A point in a stream that the host can wait for. Opaque; owned by its device.
using EventHandle = void*;

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view type() const = 0;  // "CPU", "APU"
  virtual int ordinal() const = 0;
  virtual std::string_view plugin() const = 0;  // path of the plug-in; empty: a built-in device
  virtual int priority() const = 0;             // placement prefers more: CPU 60, pluggable 220
  virtual int64_t memory_bytes() const = 0;     // most that tensors can take; 0: unknown
  std::string full_name() const;                // "/job:localhost/replica:0/task:0/device:APU:0"
  std::string short_name() const;               // "/device:APU:0"
  std::string physical_name() const;            // "/physical_device:APU:0"
  // Whether tensors lie in host memory and steps run on the calling thread.
  virtual bool is_host() const = 0;
  // Whether the device compiles and runs programs made of groups of nodes, and has no kernels. Its
  // memory is its own: no plan lays tensors out in it, and it has no streams. The methods below
  // that need either fail with FAILED_PRECONDITION.
  virtual bool compiles() const { return false; }
  // Whether a node without a kernel on this device, which has kernels, is compiled by itself.
  virtual bool compiles_ops() const { return false; }
  // The interface by which a plug-in brings the device: "pluggable" (StreamExecutor),
  // "next_pluggable" or "pjrt"; "cpu" without a plug-in.
  virtual std::string_view kind() const { return plugin().empty() ? "cpu" : "pluggable"; }
  // Whether kernels queue work on a stream. A device without streams has null ones; its tensors
  // are objects of its own (plugin/pjrt/opaque_memory.h) that nobody may view in another shape.
  // Unless compiles(), its methods below have no streams to queue on: a copy to or from the host is
  // complete when its call returns; types are not compared, and sizes only by a copy to the host;
  // an event is complete at once; StreamWaitsForStream does nothing; HostCallback calls `callback`
  // before it returns the status of `callback`.
  virtual bool has_streams() const { return true; }

  // --- The methods below are for devices other than the host. Errors of a plug-in's callback carry
  // the plug-in's own text, and name the plug-in and the callback. On the host, Allocate gives host
  // memory of the alignment of tensors, SynchronizeAllActivity does nothing, streams are null, and
  // every other method that returns a status fails with FAILED_PRECONDITION.

  // Allocates device memory; without streams, opaque memory (plugin/pjrt/opaque_memory.h), of which
  // what follows does not hold. BfcAllocator aligns memory to 256 bytes within its regions; without
  // BfcAllocator the plug-in chooses the alignment. 0 bytes have a null address. Released memory is
  // reused in the order of the compute stream: work that is queued there may still use it. Any
  // other stream must wait for the compute stream before it writes to new memory.
  // RESOURCE_EXHAUSTED when the device is full.
  virtual absl::StatusOr<BufferRef> Allocate(size_t bytes) = 0;

  // The same, for a value that `stream` writes to the memory: if queued work may still use it,
  // makes the stream wait for the compute stream. Errors are those of both.
  virtual absl::StatusOr<BufferRef> AllocateForArrival(StreamHandle stream, size_t bytes);

  // The four streams of a device. They live as long as the device. A plug-in makes each by a call
  // of its own.
  virtual StreamHandle compute_stream() = 0;
  virtual StreamHandle host_to_device_stream() = 0;
  virtual StreamHandle device_to_host_stream() = 0;
  virtual StreamHandle device_to_device_stream() = 0;

  // Makes all later work on `stream` start after the work that is queued on `other` now.
  virtual absl::Status StreamWaitsForStream(StreamHandle stream, StreamHandle other) = 0;

  // Whether CopyDeviceToDevice works, within the device and to another device of the same plug-in
  // and type; else it returns UNIMPLEMENTED. Not to be asked of the host.
  virtual bool copies_between() const { return true; }
  // Queue a copy on `stream`, which is of this device; between devices, of the one that holds
  // `from`. The tensors must have one type, which is no string, resource or variant, and the same
  // number of bytes: else INTERNAL. A copy of no bytes queues nothing. A large copy from the host
  // may block until earlier copies are done (CopyScope). The caller must keep both tensors until an
  // event that was recorded after the copy is complete.
  virtual absl::Status CopyHostToDevice(StreamHandle stream, const Tensor& host,
                                        const Tensor& device) = 0;
  virtual absl::Status CopyDeviceToHost(StreamHandle stream, const Tensor& device,
                                        const Tensor& host) = 0;
  virtual absl::Status CopyDeviceToDevice(StreamHandle stream, const Tensor& from,
                                          const Tensor& to) = 0;

  // Host memory of the device's own, to and from which it copies without a detour (pinned memory),
  // aligned as tensors are. Null: there is none of that size, and other host memory serves. Copies
  // take it as they take any host memory. It may be used and released when the device is gone.
  virtual BufferRef AllocateHost(size_t) { return BufferRef(); }
  // Whether AllocateHost is worth a call for a value of that size that is copied to the host.
  virtual bool has_own_host_memory(size_t) const { return false; }

  // Takes an event from the device's pool, and gives it back. An event that is given back need not
  // be complete.
  virtual absl::StatusOr<EventHandle> AcquireEvent() = 0;
  virtual void ReleaseEvent(EventHandle event) = 0;
  // Completes `event` when the work that is queued on `stream` now is done.
  virtual absl::Status RecordEvent(StreamHandle stream, EventHandle event) = 0;
  // Blocks the calling thread until the event is complete. INTERNAL if the device reports an error
  // or an unknown state for the event; DEADLINE_EXCEEDED after `timeout_s` seconds; the status of
  // RunLimits::Check (plugin/kernels/run_limits.h) when the limits of the thread's run end the
  // wait.
  virtual absl::Status BlockUntilComplete(EventHandle event, double timeout_s) = 0;
  // Blocks the calling thread until all queued work of the device is done.
  virtual absl::Status SynchronizeAllActivity() = 0;
  // Queues a call of `callback` behind the work that is queued on `stream`. The plug-in chooses the
  // thread of the call, which may be this one, before the method returns: `callback` must not use
  // the stream. The plug-in gets the status of `callback`. INTERNAL if the plug-in refuses. An
  // error leaves no call of `callback` pending.
  virtual absl::Status HostCallback(StreamHandle stream,
                                    std::function<absl::Status()> callback) = 0;

  // --- Counts the runs under way that use the device, of all sessions.
  void BeginRun() { runs_.fetch_add(1, std::memory_order_relaxed); }
  void EndRun() { runs_.fetch_sub(1, std::memory_order_relaxed); }
  bool has_several_runs() const { return runs_.load(std::memory_order_relaxed) > 1; }

 private:
  std::atomic<int> runs_{0};
};

// The host itself. A program may want several devices of it, which it tells apart by their
// ordinals.
std::unique_ptr<Device> MakeCpuDevice(int ordinal = 0);

}  // namespace tenon
