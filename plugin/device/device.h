// Devices as the executor sees them: memory, in-order streams, events, copies. The CPU is one; a
// plug-in's StreamExecutor callbacks are another (plugin/host/devices). All methods are thread-safe
// unless said.
#pragma once

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
using EventHandle = void*;

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view type() const = 0;  // "CPU", "APU"
  virtual int ordinal() const = 0;
  virtual std::string_view plugin() const = 0;  // path; empty for built-in devices
  virtual int priority() const = 0;             // placement order: CPU 60, a plug-in 220
  virtual int64_t memory_bytes() const = 0;     // 0: unknown
  std::string full_name() const;                // "/job:localhost/replica:0/task:0/device:APU:0"
  std::string short_name() const;               // "/device:APU:0"
  std::string physical_name() const;            // "/physical_device:APU:0"
  virtual bool is_host() const = 0;  // tensors are host memory, steps run in the calling thread

  // --- Below: only for devices that are not the host. Errors carry the plug-in's own text and name
  // plug-in and callback.

  // Device memory (256-byte aligned), freed for reuse in the order of the compute stream: work that
  // is queued there may still use it, so any other stream that writes to it must first wait for the
  // compute stream. RESOURCE_EXHAUSTED when full.
  virtual absl::StatusOr<BufferRef> Allocate(size_t bytes) = 0;

  // The four streams of a device; distinct, made with the device.
  virtual StreamHandle compute_stream() = 0;
  virtual StreamHandle host_to_device_stream() = 0;
  virtual StreamHandle device_to_host_stream() = 0;
  virtual StreamHandle device_to_device_stream() = 0;

  // Work queued on `stream` from now on starts after what is queued on `other` now.
  virtual absl::Status StreamWaitsForStream(StreamHandle stream, StreamHandle other) = 0;

  // Whether CopyDeviceToDevice works, also to another device of the same plug-in and type.
  virtual bool copies_between() const { return true; }
  // Queue copies. Both tensors must be kept until an event recorded after the copy is complete.
  virtual absl::Status CopyHostToDevice(StreamHandle stream, const Tensor& host,
                                        const Tensor& device) = 0;
  virtual absl::Status CopyDeviceToHost(StreamHandle stream, const Tensor& device,
                                        const Tensor& host) = 0;
  virtual absl::Status CopyDeviceToDevice(StreamHandle stream, const Tensor& from,
                                          const Tensor& to) = 0;

  // Events come from a pool and go back to it.
  virtual absl::StatusOr<EventHandle> AcquireEvent() = 0;
  virtual void ReleaseEvent(EventHandle event) = 0;
  virtual absl::Status RecordEvent(StreamHandle stream, EventHandle event) = 0;
  // Blocks the calling thread until the event is complete; an error event is an INTERNAL status.
  // Gives up after `timeout_s` seconds with DEADLINE_EXCEEDED.
  virtual absl::Status BlockUntilComplete(EventHandle event, double timeout_s) = 0;
  virtual absl::Status SynchronizeAllActivity() = 0;
  // Queues a call of `callback` behind what is queued on `stream`, on a thread of the plug-in's
  // choice. Its status goes to the plug-in. INTERNAL when the plug-in refuses.
  virtual absl::Status HostCallback(StreamHandle stream,
                                    std::function<absl::Status()> callback) = 0;
};

// The host itself.
std::unique_ptr<Device> MakeCpuDevice();

}  // namespace tenon
