// Streams and events. Each stream is a thread with a queue, so that work is asynchronous as on a
// real device.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "apu_memory.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace apu {

// A point in the work of a stream: reached, or not yet. Thread-safe. Shared by the stream and by
// those who wait for the point.
class Marker {
 public:
  void Signal();
  // Blocks until Signal was called.
  void Wait();
  bool reached();
  // By the VirtualClock, if there is one: when the stream got there. SetTime comes before Signal,
  // and time() is of use once the point is reached.
  void SetTime(int64_t time) { time_ = time; }
  int64_t time() const { return time_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  std::atomic<int64_t> time_{0};
};

// Runs tasks one after the other, in the order of Enqueue, on a thread of its own. Tasks must not
// throw, make or destroy a stream, or call MarkAll or StopAll. Thread-safe.
class Stream {
 public:
  using Task = std::function<void()>;

  // `memory` must outlive the stream. Throws std::system_error if the system has no thread left.
  explicit Stream(DeviceMemory& memory);

  // Waits until the thread has run all queued tasks, then ends the thread. After StopAll there is
  // nothing to wait for.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Queues a task and returns at once. After StopAll it drops the task.
  void Enqueue(Task task);

  // A marker that is reached when everything queued so far is done. StopAll reaches the markers
  // that are still queued, and perhaps does so before the task that runs has ended. After StopAll a
  // new marker is reached from the start.
  std::shared_ptr<Marker> Mark();

  // Holds later tasks back until the marker, which must not be NULL, is reached. Does not block the
  // caller.
  void WaitFor(std::shared_ptr<Marker> marker);

  DeviceMemory& memory() { return memory_; }

  // One marker for each stream that exists, as Mark returns it.
  static std::vector<std::shared_ptr<Marker>> MarkAll();

  // Drops the queued tasks of all streams that exist, waits for the tasks that run, and ends the
  // streams' threads: for a process that leaves without destroying its streams. These streams may
  // still be used and destroyed, but they run nothing any more. A stream made later runs as usual.
  static void StopAll();

 private:
  void Run();   // the thread's function
  void Drop();  // drops the queue and lets the thread end

  DeviceMemory& memory_;
  std::mutex mutex_;  // guards the queue and `stopping_`
  std::condition_variable wake_;
  struct Queued {
    Task task;
    int64_t at;  // the host's time then, by the VirtualClock
  };
  std::deque<Queued> queue_;
  bool stopping_ = false;
  std::thread worker_;
};

// An event of the C interface: a name for the marker that was recorded last. Thread-safe.
class Event {
 public:
  // From now on the event stands for the work that is queued on `stream` now.
  void Record(Stream& stream);

  // NULL if nothing was recorded: there is nothing to wait for then.
  std::shared_ptr<Marker> marker();

 private:
  std::mutex mutex_;
  std::shared_ptr<Marker> marker_;
};

}  // namespace apu

// The objects that the handles of the C interface point to.
struct SP_Stream_st : apu::Stream {
  using Stream::Stream;
};
struct SP_Event_st : apu::Event {};
