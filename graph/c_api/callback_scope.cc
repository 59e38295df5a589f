#include "graph/c_api/callback_scope.h"

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

thread_local const CallbackInfo* current = nullptr;

}  // namespace

const CallbackInfo* CurrentCallback() { return current; }

CallbackScope::CallbackScope(const char* plugin, const char* callback, const char* node)
    : info_{plugin, callback, node}, outer_(current) {
  current = &info_;
}

CallbackScope::~CallbackScope() { current = outer_; }

absl::Status ExceptionStatus(const CallbackInfo& info, const char* what) {
  return absl::InternalError(absl::StrCat(info.callback, " of plug-in ", info.plugin,
                                          " threw an exception", what == nullptr ? "" : ": ",
                                          what == nullptr ? "" : what));
}

absl::Status Attribute(absl::Status status, std::string_view callback, std::string_view plugin) {
  if (status.ok()) return status;
  absl::Status attributed(
      status.code(), absl::StrCat(status.message(), " (", callback, " of plug-in ", plugin, ")"));
  status.ForEachPayload([&attributed](std::string_view key, const absl::Cord& value) {
    attributed.SetPayload(key, value);
  });
  return attributed;
}

}  // namespace tenon
