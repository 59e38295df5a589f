// Records, for --abi-check=strict, the memory, streams and events of plug-ins' devices, and how far
// the host knows each stream to have got. Reports violations to AbiWatch. All functions are
// thread-safe, and do nothing for a device without a watch unless they say otherwise.
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

// Begins the watch of a device; call it right after create_device. `real` is the plug-in's own
// table. `device` and `handle` must live until EndDeviceWatch.
void WatchDevice(const Device* device, const SP_Device* handle, const std::string& plugin,
                 const SP_StreamExecutor& real);
// Ends the watch; call it right before destroy_device. Reports memory, streams and events that are
// still there as leaks.
void EndDeviceWatch(const SP_Device* handle);

// Reports a violation if the output of a kernel does not lie in the memory that the kernel's
// registration states: the host's (`on_host`) or the device's.
void WatchOutput(const Device* device, int output, const void* data, bool on_host);
// Notes that work which uses these addresses was queued on a stream.
void WatchQueued(const Device* device, StreamHandle stream, const std::vector<const void*>& used);

// The memory of a device; null for a device without a watch. Valid until EndDeviceWatch.
FarMemory* FarMemoryOf(const Device* device);

// A point in the work of several streams: the number of pieces of work on each (a vector clock).
// Leaves out streams of which nothing is known.
using StreamClock = std::map<SP_Stream, uint64_t>;

// The watch of one device, for the functions of strict_table.cc. Thread-safe.
class DeviceWatch {
 public:
  // The watch of a device. Throws std::invalid_argument for a handle without a watch, since a
  // plug-in that calls through its own table may pass anything. The host catches it where it called
  // the plug-in. The reference is valid until EndDeviceWatch; no other thread may use the watch of
  // that device then.
  static DeviceWatch& Of(const SP_Device* handle);

  virtual ~DeviceWatch() = default;
  const SP_StreamExecutor& real() const { return real_; }

  // Notes memory that `allocate` gave out. It has `asked` bytes, with `zone` more before and
  // behind, which are filled and checked later. Reports a violation for a misaligned address or an
  // unset struct_size. Reports one for memory that overlaps memory in use, and then fills nothing.
  // Ignores null.
  virtual void Allocated(const SP_DeviceMemoryBase& memory, uint64_t asked, uint64_t zone) = 0;
  // Notes that memory is freed, and returns its zone. Reports a violation if queued work that uses
  // the memory is not known to be done. Returns nothing, and reports a violation, for memory that
  // is not allocated, null included: the caller must not hand it to the plug-in.
  virtual std::optional<uint64_t> Freed(const void* address) = 0;
  // Note memory of host_memory_allocate, and its end. Alignment, overlaps and queued work are not
  // checked, and there is no zone. HostFreed returns false, and reports a violation, for memory
  // that is not allocated; it returns true for null.
  virtual void HostAllocated(const void* address, uint64_t size) = 0;
  virtual bool HostFreed(const void* address) = 0;

  // Check `size` bytes at an address that the plug-in gets as memory of its device, or of the host.
  // `what` names the argument: "source", "target".
  virtual void DeviceAddress(const char* what, const void* address, uint64_t size) = 0;
  virtual void HostAddress(const char* what, const void* address, uint64_t size) = 0;

  // Report a violation if a made stream (null excepted) or event has the handle of another one of
  // the device, or if a destroyed one is not there.
  virtual void StreamMade(SP_Stream stream) = 0;
  virtual void StreamGone(SP_Stream stream) = 0;
  virtual void EventMade(SP_Event event) = 0;
  virtual void EventGone(SP_Event event) = 0;

  // Notes a piece of work that uses these addresses.
  virtual void Queued(SP_Stream stream, const std::vector<const void*>& used) = 0;
  // Queues a mark behind the stream's work, to see later whether the work is done when the plug-in
  // says so.
  virtual void Mark(const SP_Device* handle, SP_Stream stream) = 0;
  // Notes that later work of `waiting` waits for the work now queued on `other`.
  virtual void Depends(SP_Stream waiting, SP_Stream other) = 0;
  // Notes that `event` is recorded on `stream`. Reports a violation if the event is not there.
  virtual void Recorded(SP_Stream stream, SP_Event event) = 0;
  // Reports a violation if the event is not there, or was never recorded.
  virtual void MustBeRecorded(SP_Event event) = 0;
  // Notes that later work of `stream` waits for the last record of `event`.
  virtual void WaitsFor(SP_Stream stream, SP_Event event) = 0;

  // At(event): the work that was queued before the last record of the event; empty for an event
  // that was never recorded. At(stream): the work that is queued on the stream. AtAll: the work
  // that is queued on all streams of the device. Work of other streams for which this work waits is
  // part of it.
  virtual StreamClock At(SP_Event event) = 0;
  virtual StreamClock At(SP_Stream stream) = 0;
  virtual StreamClock AtAll() = 0;
  // Whether the host knows that all of this work is done; false for no work.
  virtual bool IsDone(const StreamClock& at) = 0;
  // Notes that the plug-in reports this work as done: IsDone is true of it from now on. Waits
  // shortly for the callbacks of marks in the work, and reports a violation, once for each stream,
  // if one does not come; `how` begins the message: "a stream was waited for".
  virtual void LearnDone(const StreamClock& at, const char* how) = 0;

 protected:
  explicit DeviceWatch(const SP_StreamExecutor& real) : real_(real) {}

 private:
  const SP_StreamExecutor real_;
};

}  // namespace tenon
