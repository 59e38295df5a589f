// Streams and events of the host's interface: in-order queues and OpenCL events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cl.h"
#include "device.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace opencl {

// A new in-order queue that tells when its commands ran.
Queue NewQueue(cl_context context, cl_device_id device);

// An in-order queue. Functions queue work and return at once, but for Finish. They throw what Check
// throws. Thread-safe.
class Stream {
 public:
  explicit Stream(Device& device);
  // Waits for what is queued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() { return device_; }
  cl_command_queue queue() const { return queue_.get(); }
  int number() const { return number_; }  // 0, 1, ...: in the order in which the process made them

  // To be called by everyone who has queued work on queue(): else Finish does not wait for it.
  // `last`: the event of the command that was queued last, if the caller has it. Mark then needs no
  // command of its own: between copies of 2 MiB a marker costs an H200 as much as half a copy.
  // Nobody else may queue work between that command and the end of this call. The host sees to it:
  // it locks a stream for each copy, and copies to and from the host have streams without kernels.
  void Touch(EventHandle last = EventHandle());

  // An event for what is queued so far, which the device gets to see at once.
  EventHandle Mark();
  // Holds later work back until the event, of any stream of this device, is complete. Throws for
  // NULL.
  void WaitFor(cl_event event);
  // Waits for what is queued.
  void Finish();

  // Queues a call of the host's function, also where work before it fails. Later work on this
  // stream waits for its end. A thread of the driver calls it. The status that the function sets
  // has nowhere to go. If Call throws, the function is not called.
  void Call(SE_StatusCallbackFn function, void* argument);

 private:
  EventHandle Last();

  Device& device_;
  Queue queue_;
  int number_ = 0;
  std::atomic<uint64_t> touches_{0};
  std::atomic<uint64_t> finished_{0};  // so many touches a Finish has waited for
  std::mutex mutex_;
  EventHandle last_;  // of the last command; NULL: unknown
};

// A point of a stream: what was recorded last. Status is SE_EVENT_COMPLETE if nothing was recorded,
// and SE_EVENT_ERROR if the work failed. Thread-safe.
class Event {
 public:
  // Throws what Check throws: what was recorded before then stays.
  void Record(Stream& stream);
  SE_EventStatus Status();
  // The event, which the result keeps alive; an empty handle if nothing was recorded.
  EventHandle Share();

 private:
  std::mutex mutex_;
  EventHandle event_;
};

}  // namespace opencl

// The objects that the handles of the C interface point to.
struct SP_Stream_st : opencl::Stream {
  using Stream::Stream;
};
struct SP_Event_st : opencl::Event {};
