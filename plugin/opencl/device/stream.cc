#include "stream.h"

#include <utility>

#include "status.h"

namespace opencl {
namespace {

// A call of the host's function, from Stream::Call to its end.
struct HostCall {
  SE_StatusCallbackFn function;
  void* argument;
  EventHandle done;  // an event of ours, for which the stream waits
};

// OpenCL calls this when the stream gets there, also where a command before it failed. The status
// that the host's function sets has nowhere to go: the interface has no place for it.
void CL_CALLBACK RunHostCall(cl_event, cl_int, void* data) {
  const std::unique_ptr<HostCall> call(static_cast<HostCall*>(data));
  const StatusPtr status(TF_NewStatus());
  call->function(call->argument, status.get());
  clSetUserEventStatus(call->done.get(), CL_COMPLETE);
}

}  // namespace

Queue NewQueue(cl_context context, cl_device_id device) {
  cl_int code = CL_SUCCESS;
  Queue queue(clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code));
  Check(code, "clCreateCommandQueue");
  return queue;
}

Stream::Stream(Device& device) : device_(device), queue_(NewQueue(device.context(), device.id())) {
  static std::atomic<int> made{0};
  number_ = made++;
  device_.Add(this);
}

Stream::~Stream() {
  device_.Remove(this);
  clFinish(queue());
}

void Stream::Touch(EventHandle last) {
  {
    std::lock_guard lock(mutex_);
    last_ = std::move(last);
  }
  touches_.fetch_add(1, std::memory_order_release);
}

// The queue is in order: when its last command is done, all are.
EventHandle Stream::Mark() {
  EventHandle mark = Last();
  if (!mark) {
    cl_event event = nullptr;
    Check(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
    mark = EventHandle(event);
    Touch();
  }
  Check(clFlush(queue()), "clFlush");
  return mark;
}

EventHandle Stream::Last() {
  std::lock_guard lock(mutex_);
  if (last_) clRetainEvent(last_.get());
  return EventHandle(last_.get());
}

void Stream::WaitFor(cl_event event) {
  Check(clEnqueueBarrierWithWaitList(queue(), 1, &event, nullptr), "clEnqueueBarrierWithWaitList");
  Touch();
}

// The wait counts once it is over: until then other threads wait as well, and after an error the
// next one does.
void Stream::Finish() {
  const uint64_t touches = touches_.load(std::memory_order_acquire);
  uint64_t finished = finished_.load(std::memory_order_acquire);
  if (finished >= touches) return;
  Check(clFinish(queue()), "clFinish");
  while (finished < touches &&
         !finished_.compare_exchange_weak(finished, touches, std::memory_order_acq_rel)) {
  }
}

void Stream::Call(SE_StatusCallbackFn function, void* argument) {
  cl_int code = CL_SUCCESS;
  EventHandle done(clCreateUserEvent(device_.context(), &code));
  Check(code, "clCreateUserEvent");
  const EventHandle reached = Mark();
  cl_event gate = done.get();
  WaitFor(gate);
  auto* const call = new HostCall{function, argument, std::move(done)};  // RunHostCall deletes it
  code = clSetEventCallback(reached.get(), CL_COMPLETE, RunHostCall, call);
  if (code != CL_SUCCESS) {
    clSetUserEventStatus(gate, CL_COMPLETE);  // the stream waits for it already
    delete call;
  }
  Check(code, "clSetEventCallback");
  // The function is called whatever comes of this: the next command meets the error.
  clFlush(queue());
}

void Event::Record(Stream& stream) {
  EventHandle mark = stream.Mark();
  std::lock_guard lock(mutex_);
  event_ = std::move(mark);
}

EventHandle Event::Share() {
  std::lock_guard lock(mutex_);
  if (event_) clRetainEvent(event_.get());
  return EventHandle(event_.get());
}

SE_EventStatus Event::Status() {
  const EventHandle event = Share();
  if (!event) return SE_EVENT_COMPLETE;
  cl_int status = CL_QUEUED;
  const cl_int code = clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                                     &status, nullptr);
  if (code != CL_SUCCESS || status < 0) return SE_EVENT_ERROR;
  return status == CL_COMPLETE ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
}

}  // namespace opencl
