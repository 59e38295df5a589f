// Streams and events: each stream is a thread with a queue, so that work really is asynchronous.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "apu_memory.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace apu {

// A point in the work of a stream: reached, or not yet. Thread-safe.
class Marker {
 public:
  void Signal();
  void Wait();
  bool reached();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
};

// Runs tasks one after the other, in the order of Enqueue, on a thread of its own. Thread-safe.
class Stream {
 public:
  using Task = std::function<void()>;

  // Throws std::system_error if the system has no thread left.
  explicit Stream(DeviceMemory& memory);

  // Runs what is queued, then ends the thread.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Enqueue(Task task);

  // A marker that is reached when everything queued so far is done, or dropped by StopAll.
  std::shared_ptr<Marker> Mark();

  // Holds later tasks back until the marker is reached. Does not block the caller.
  void WaitFor(std::shared_ptr<Marker> marker);

  DeviceMemory& memory() { return memory_; }

  // Markers for the end of each living stream's work.
  static std::vector<std::shared_ptr<Marker>> MarkAll();

  // Drops all queued work and ends all threads: for a process that leaves without destroying its
  // streams. They stay usable in so far as tasks are dropped.
  static void StopAll();

 private:
  void Run();
  void Drop();

  DeviceMemory& memory_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;
  bool stopping_ = false;
  std::thread worker_;
};

// Follows the marker that it was last recorded as.
class Event {
 public:
  void Record(Stream& stream);

  // NULL if it was never recorded: there is nothing to wait for then.
  std::shared_ptr<Marker> marker();

 private:
  std::mutex mutex_;
  std::shared_ptr<Marker> marker_;
};

}  // namespace apu

// What the interface's handles point to.
struct SP_Stream_st : apu::Stream {
  using Stream::Stream;
};
struct SP_Event_st : apu::Event {};
