#include "executor/api/eager/device_names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon::eager {
namespace {

std::string TextOf(const DeviceRequest& request) {
  std::string text;
  if (!request.job.empty()) absl::StrAppend(&text, "/job:", request.job);
  if (request.replica >= 0) absl::StrAppend(&text, "/replica:", request.replica);
  if (request.task >= 0) absl::StrAppend(&text, "/task:", request.task);
  if (request.type.empty() && request.ordinal < 0) return text;
  absl::StrAppend(&text, "/device:", request.type.empty() ? "*" : request.type, ":");
  if (request.ordinal < 0) return text + "*";
  return absl::StrCat(text, request.ordinal);
}

}  // namespace

bool Fits(const DeviceName& name, const Device& device) {
  const DeviceRequest& r = name.request;
  return IsThisTask(r) && (r.type.empty() || r.type == device.type()) &&
         (r.ordinal < 0 || r.ordinal == device.ordinal());
}

bool IsNameOf(std::string_view name, const Device& device) {
  const std::string full = device.full_name();
  const std::string last = absl::StrCat(device.type(), ":", device.ordinal());
  const std::string_view task = std::string_view(full).substr(0, full.rfind('/'));
  return name == full || name == last || name == absl::StrCat("/device:", last) ||
         name == absl::StrCat(task, "/", absl::AsciiStrToLower(last));
}

Device* FindDevice(const DeviceName& name, absl::Span<Device* const> devices) {
  for (Device* const device : devices) {
    if (Fits(name, *device)) return device;
  }
  return nullptr;
}

absl::StatusOr<const DeviceName*> DeviceNames::Find(std::string_view name) {
  absl::MutexLock lock(&mutex_);
  const auto known = by_text_.find(name);
  if (known != by_text_.end()) return known->second;
  TENON_ASSIGN_OR_RETURN(DeviceRequest request, ParseDeviceRequest(name));
  const std::string text = TextOf(request);
  std::unique_ptr<DeviceName>& entry = names_[text];
  if (entry == nullptr) entry = std::make_unique<DeviceName>(DeviceName{text, std::move(request)});
  by_text_.emplace(name, entry.get());
  return entry.get();
}

}  // namespace tenon::eager
