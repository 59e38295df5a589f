// Waits by the plug-in's callback, not by PJRT_Event_Await, which has no limit of time.

#include "plugin/pjrt/event.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

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
};

// Owns the error. May run within PJRT_Event_OnReady, on the thread that waits.
void Notify(abi::Error* error, void* user_arg) {
  const std::unique_ptr<std::shared_ptr<Signal>> held(
      static_cast<std::shared_ptr<Signal>*>(user_arg));
  Signal& signal = **held;
  absl::Status status = signal.api->TakeError(error, fn::Event_OnReady.name);
  const std::lock_guard lock(signal.mutex);
  signal.status = std::move(status);
  signal.done = true;
  signal.done_changed.notify_all();
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
  auto signal = std::make_shared<Signal>();
  signal->api = api_;
  auto held = std::make_unique<std::shared_ptr<Signal>>(signal);
  auto args = Fresh<abi::EventOnReadyArgs>();
  args.event = event_;
  args.callback = &Notify;
  args.user_arg = held.get();
  // What is handed over belongs to the callback, which may have run when the call returns.
  held.release();  // NOLINT(bugprone-unused-return-value)
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
