#include "event.h"

#include <utility>

namespace pjref {

void EventState::Set(Outcome outcome) {
  std::vector<std::function<void(const Outcome&)>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ready_) return;
    ready_ = true;
    outcome_ = std::move(outcome);
    callbacks.swap(callbacks_);
    changed_.notify_all();
  }
  for (const auto& callback : callbacks) callback(outcome_);
}

bool EventState::IsReady() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ready_;
}

Outcome EventState::Await() const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return ready_; });
  return outcome_;
}

void EventState::OnReady(std::function<void(const Outcome&)> callback) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ready_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(outcome_);
}

EventPtr EventState::Ready() {
  auto made = std::make_shared<EventState>();
  made->Set(std::nullopt);
  return made;
}

}  // namespace pjref
