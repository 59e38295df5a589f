// Waits by the plug-in's callback, not by PJRT_Event_Await, which has no limit of time.

#include "plugin/pjrt/event.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon::pjrt {
namespace {

// Shared by the waiting thread and the callback, of which either may be the last.
struct Signal {
  std::shared_ptr<const Api> api;
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  absl::Status status;
  std::atomic<int> owners = 0;
};

// All signals: one that nobody needs any more serves again, so a wait takes no memory once there
// were as many at the same time. Never destroyed, since callbacks may come at any time. The signal
// of an event that never becomes ready is never needed again, and stays here.
class SignalPool {
 public:
  static SignalPool& Global() {
    static SignalPool* const pool = new SignalPool;
    return *pool;
  }
  // For two owners.
  Signal* Take(const std::shared_ptr<const Api>& api) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      // GiveUp takes no memory: there is room for all.
      if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 8);
      free_.push_back(&all_.emplace_back());
    }
    Signal* const signal = free_.back();
    free_.pop_back();
    signal->api = api;
    signal->owners = 2;
    return signal;
  }
  void GiveUp(Signal* signal) {
    if (signal->owners.fetch_sub(1) > 1) return;
    // Not under the lock: the last share of an interface may unload a library.
    signal->api = nullptr;
    signal->done = false;
    signal->status = absl::OkStatus();
    const std::lock_guard lock(mutex_);
    free_.push_back(signal);
  }

 private:
  std::mutex mutex_;
  std::deque<Signal> all_;
  std::vector<Signal*> free_;
};

// Owns the error. May run within PJRT_Event_OnReady, on the thread that waits.
void Notify(abi::Error* error, void* user_arg) {
  Signal& signal = *static_cast<Signal*>(user_arg);
  absl::Status status = signal.api->TakeError(error, fn::Event_OnReady.name);
  {
    const std::lock_guard lock(signal.mutex);
    signal.status = std::move(status);
    signal.done = true;
    signal.done_changed.notify_all();
  }
  SignalPool::Global().GiveUp(&signal);
}

}  // namespace

Event& Event::operator=(Event&& o) noexcept {
  if (this == &o) return *this;
  Destroy();
  api_ = std::move(o.api_);
  event_ = std::exchange(o.event_, nullptr);
  return *this;
}

void Event::Destroy() {
  if (event_ == nullptr) return;
  auto args = Fresh<abi::EventArgs>();
  args.event = std::exchange(event_, nullptr);
  api_->Release(fn::Event_Destroy, args);
}

absl::StatusOr<bool> Event::IsReady(std::string_view node) {
  auto args = Fresh<abi::EventIsReadyArgs>();
  args.event = event_;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Event_IsReady, args, node));
  return args.is_ready;
}

absl::Status Event::ErrorOf(std::string_view node) {
  auto args = Fresh<abi::EventArgs>();
  args.event = event_;
  return api_->Call(fn::Event_Error, args, node);
}

absl::Status Event::Await(double timeout_s, std::string_view what, std::string_view node) {
  if (event_ == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const bool ready, IsReady(node));
  if (ready) return ErrorOf(node);
  Signal* const signal = SignalPool::Global().Take(api_);
  const absl::Cleanup give_up = [signal] { SignalPool::Global().GiveUp(signal); };
  auto args = Fresh<abi::EventOnReadyArgs>();
  args.event = event_;
  args.callback = &Notify;
  // The callback is an owner. It may have run when the call returns; after an error it may never.
  args.user_arg = signal;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Event_OnReady, args, node));
  const CallbackScope scope(api_->plugin().c_str(), "an event", node);
  std::unique_lock lock(signal->mutex);
  const auto limit = std::chrono::duration<double>(timeout_s);
  if (signal->done_changed.wait_for(lock, limit, [&] { return signal->done; }))
    return signal->status;
  return PluginFault(Attribute(
      absl::DeadlineExceededError(absl::StrCat(what, " did not end within ", timeout_s, " s")),
      "an event", api_->plugin()));
}

}  // namespace tenon::pjrt
