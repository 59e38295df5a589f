#include "device.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pjref {

DeviceCore::DeviceCore(int id, const Settings& settings)
    : id_(id),
      limit_(settings.memory_limit),
      delay_us_(settings.delay_us),
      late_(settings.late_events),
      thread_([this] { Work(); }) {}

DeviceCore::~DeviceCore() { Stop(); }

void DeviceCore::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void DeviceCore::Queue(EventKinds kind, std::function<void()> task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_)
    throw Refusal(Code::kFailedPrecondition,
                  "the client of device " + std::to_string(id_) + " is gone");
  tasks_.push_back({kind, std::move(task)});
  changed_.notify_all();
}

void DeviceCore::Work() {
  while (true) {
    Task task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    if (delay_us_ > 0 && (task.kind & late_))
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us_));
    task.body();
  }
}

void DeviceCore::Reserve(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit_ > 0 && bytes > limit_ - account_.in_use) {
    throw Refusal(Code::kResourceExhausted, "Out of memory allocating " + std::to_string(bytes) +
                                                " bytes on device " + std::to_string(id_) + ": " +
                                                std::to_string(account_.in_use) + " of " +
                                                std::to_string(limit_) + " are in use.");
  }
  account_.in_use += bytes;
  account_.peak = std::max(account_.peak, account_.in_use);
  account_.largest = std::max(account_.largest, bytes);
  ++account_.allocations;
}

void DeviceCore::Release(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  account_.in_use -= bytes;
}

DeviceCore::Account DeviceCore::account() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return account_;
}

Value::Value(DevicePtr device, Type type, bool foreign)
    : device_(std::move(device)),
      type_(std::move(type)),
      reserved_(foreign ? 0 : static_cast<int64_t>(type_.bytes())) {
  device_->Reserve(reserved_);
}

Value::~Value() {
  device_->Release(reserved_);
  array = Array();
  if (released) released->Set(std::nullopt);
}

}  // namespace pjref
