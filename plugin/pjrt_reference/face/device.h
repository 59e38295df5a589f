// A device: a thread that works through a queue, and an account of its memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "../base/array.h"
#include "event.h"
#include "settings.h"

namespace pjref {

class DeviceCore {
 public:
  DeviceCore(int id, const Settings& settings);
  // Works off what is queued.
  ~DeviceCore();
  DeviceCore(const DeviceCore&) = delete;
  DeviceCore& operator=(const DeviceCore&) = delete;

  int id() const { return id_; }
  // Tasks run one after the other, on the device's thread. A task must not throw. Throws
  // Refusal(kFailedPrecondition) after Stop.
  void Queue(EventKinds kind, std::function<void()> task);
  // Waits until all queued tasks are done and ends the thread. Not on the device's own thread. A
  // second call does nothing.
  void Stop();
  bool IsThisThread() const { return thread_.get_id() == std::this_thread::get_id(); }

  // Throws Refusal(kResourceExhausted), and reserves nothing, beyond Settings::memory_limit.
  void Reserve(int64_t bytes);
  void Release(int64_t bytes);
  struct Account {
    int64_t in_use = 0, peak = 0, allocations = 0, largest = 0;
  };
  Account account() const;

 private:
  void Work();

  const int id_;
  const int64_t limit_, delay_us_;
  const unsigned late_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  struct Task {
    EventKinds kind;
    std::function<void()> body;
  };
  std::deque<Task> tasks_;
  bool stopping_ = false;
  Account account_;
  std::thread thread_;
};

using DevicePtr = std::shared_ptr<DeviceCore>;

// What a buffer holds, once it is ready. Several buffers and tasks may share it.
class Value {
 public:
  // Reserves the memory (DeviceCore::Reserve, with its error) but does not allocate it. `foreign`:
  // the memory is someone else's, and nothing is reserved.
  Value(DevicePtr device, Type type, bool foreign = false);
  ~Value();
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  const Type& type() const { return type_; }
  const DevicePtr& device() const { return device_; }
  const EventPtr& ready() const { return ready_; }
  // Until `ready` is set only the task that makes the value may touch the array. Then anyone may
  // read it.
  Array array;
  // Whether a result may take the memory of an argument that is given away.
  bool donatable = true;
  // What made it.
  EventKinds origin = kTransfers;
  // The elements as they lie in the buffer's memory, where that is not row major: all axes in
  // reverse order. Else not defined.
  Array column_major;
  // Set when the value goes: host memory that it used is free then. Null: there is none.
  EventPtr released;

 private:
  DevicePtr device_;
  Type type_;
  int64_t reserved_;
  EventPtr ready_ = std::make_shared<EventState>();
};

using ValuePtr = std::shared_ptr<Value>;

}  // namespace pjref
