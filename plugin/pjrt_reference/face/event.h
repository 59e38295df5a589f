// Something that happens once: a transfer or a run ends, with or without an error.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../base/refusal.h"

namespace pjref {

using Outcome = std::optional<Refusal>;  // nothing: all went well

// Any thread.
class EventState {
 public:
  // Only the first call counts. Callbacks run on the calling thread, with no lock held.
  void Set(Outcome outcome);
  bool IsReady() const;
  // Blocks until the event is ready.
  Outcome Await() const;
  // Calls `callback` once: on the calling thread if the event is ready already, else on the thread
  // that sets it.
  void OnReady(std::function<void(const Outcome&)> callback);
  // An event that is ready, without an error.
  static std::shared_ptr<EventState> Ready();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool ready_ = false;
  Outcome outcome_;
  std::vector<std::function<void(const Outcome&)>> callbacks_;
};

using EventPtr = std::shared_ptr<EventState>;

}  // namespace pjref
