// What --abi-check=strict knows of plug-ins' devices: memory, streams and events that are alive,
// and how far each stream has got as the host knows it. Violations go to AbiWatch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/c_api/tensor_guards.h"
#include "plugin/device/device.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// From creation to the moment before destroy_device. `real` is the plug-in's own table.
void WatchDevice(const Device* device, const SP_Device* handle, const std::string& plugin,
                 const SP_StreamExecutor& real);
// Reports what was made on the device and is still there.
void EndDeviceWatch(const SP_Device* handle);

// A kernel's output is memory of the device, or of the host, as it was registered.
void WatchOutput(const Device* device, int output, const void* data, bool on_host);
// Work that uses these addresses was queued on a stream.
void WatchQueued(const Device* device, StreamHandle stream, const std::vector<const void*>& used);

// The memory of a device that is watched, else null.
FarMemory* FarMemoryOf(const Device* device);

// How many pieces of work on each stream; those of which nothing is known are left out.
using StreamClock = std::map<SP_Stream, uint64_t>;

// One device, for the table that watches (strict_table.cc). All methods are thread-safe.
class DeviceWatch {
 public:
  // The watch of a device. Throws for one that is not watched: a plug-in that calls through its own
  // table may pass anything.
  static DeviceWatch& Of(const SP_Device* handle);

  virtual ~DeviceWatch() = default;
  const SP_StreamExecutor& real() const { return real_; }

  // `zone` more bytes than were asked for lie before the memory, and behind it.
  virtual void Allocated(const SP_DeviceMemoryBase& memory, uint64_t asked, uint64_t zone) = 0;
  // The zone of the memory; nothing for memory that is not there to be freed: the plug-in must not
  // see it.
  virtual std::optional<uint64_t> Freed(const void* address) = 0;
  virtual void HostAllocated(const void* address, uint64_t size) = 0;
  virtual bool HostFreed(const void* address) = 0;

  // An address that the plug-in gets as one of its device or of the host.
  virtual void DeviceAddress(const char* what, const void* address, uint64_t size) = 0;
  virtual void HostAddress(const char* what, const void* address, uint64_t size) = 0;

  virtual void StreamMade(SP_Stream stream) = 0;
  virtual void StreamGone(SP_Stream stream) = 0;
  virtual void EventMade(SP_Event event) = 0;
  virtual void EventGone(SP_Event event) = 0;

  virtual void Queued(SP_Stream stream, const std::vector<const void*>& used) = 0;
  // Queues a mark behind what is queued, to see that it is done when the plug-in says so.
  virtual void Mark(const SP_Device* handle, SP_Stream stream) = 0;
  virtual void Depends(SP_Stream waiting, SP_Stream other) = 0;
  virtual void Recorded(SP_Stream stream, SP_Event event) = 0;
  virtual void MustBeRecorded(SP_Event event) = 0;
  virtual void WaitsFor(SP_Stream stream, SP_Event event) = 0;

  // What is queued before an event that was recorded, on a stream, on all streams of the device.
  virtual StreamClock At(SP_Event event) = 0;
  virtual StreamClock At(SP_Stream stream) = 0;
  virtual StreamClock AtAll() = 0;
  // Whether the host knows that this much, if it is any, is done.
  virtual bool IsDone(const StreamClock& at) = 0;
  // The plug-in says so. `how` begins the sentence that tells that it is not true.
  virtual void LearnDone(const StreamClock& at, const char* how) = 0;

 protected:
  explicit DeviceWatch(const SP_StreamExecutor& real) : real_(real) {}

 private:
  const SP_StreamExecutor real_;
};

}  // namespace tenon
