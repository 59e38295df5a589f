// The end of work that a plug-in does at its own time.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "plugin/pjrt/api.h"

namespace tenon::pjrt {

// Owns an event, or is empty, which stands for work that is done. One thread uses it.
class Event {
 public:
  Event() = default;
  Event(std::shared_ptr<const Api> api, abi::Event* event) : api_(std::move(api)), event_(event) {}
  Event(Event&& o) noexcept : api_(std::move(o.api_)), event_(std::exchange(o.event_, nullptr)) {}
  Event& operator=(Event&& o) noexcept;
  ~Event() { Destroy(); }

  explicit operator bool() const { return event_ != nullptr; }

  // Blocks until the work is done; returns its error. An event that is never ready ends with
  // DEADLINE_EXCEEDED after `timeout_s` seconds. `what` names the work in that message ("the run"),
  // `node` the node that it is done for.
  absl::Status Await(double timeout_s, std::string_view what, std::string_view node = {});

 private:
  void Destroy();
  absl::StatusOr<bool> IsReady(std::string_view node);
  absl::Status ErrorOf(std::string_view node);

  std::shared_ptr<const Api> api_;
  abi::Event* event_ = nullptr;
};

}  // namespace tenon::pjrt
