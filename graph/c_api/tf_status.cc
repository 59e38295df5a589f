// Status objects under both their names, TF_ and TSL_.
#include "tensorflow/c/tf_status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/without_memory.h"

namespace tenon {

namespace {

constexpr char kStatusType[] = "TF_Status";
constexpr char kDeletedText[] = "the status was deleted";

// Errors that only some systems define are UNKNOWN, as in TensorFlow.
TSL_Code CodeOfErrno(int error_code) {
  constexpr int kUnknown[] = {ECHRNG, EUNATCH, ENOPKG,    ECOMM, ENOTUNIQ,
                              EBADFD, EISNAM,  ENOMEDIUM, ENOKEY};
  if (std::find(std::begin(kUnknown), std::end(kUnknown), error_code) != std::end(kUnknown))
    return TSL_UNKNOWN;
  return static_cast<TSL_Code>(absl::ErrnoToStatusCode(error_code));
}

// An OK status has no texts, but may have memory for them.
void FreeTexts(TSL_Status& status) {
  static const size_t kInline = std::string().capacity();
  if (status.message.capacity() > kInline) std::string().swap(status.message);
  status.message.clear();
  if (!status.payloads.empty() || status.payloads.capacity() > 1)
    decltype(status.payloads)().swap(status.payloads);
}

}  // namespace

void ResetStatus(TF_Status& status) {
  if (status.is_deleted()) {
    return WarnOf(absl::InvalidArgumentError("a call was given a status that was deleted already"));
  }
  status.code = TSL_OK;
  status.message.clear();
  status.payloads.clear();
}

void StatusToC(const absl::Status& from, TF_Status* to) {
  if (to == nullptr) return;
  ClearStatus(to);
  if (from.ok() || to->is_deleted()) return;
  to->code = static_cast<TSL_Code>(from.code());
  to->message.assign(from.message());
  from.ForEachPayload([to](std::string_view key, const absl::Cord& value) {
    if (!IsOwnPayload(key)) to->payloads.emplace_back(std::string(key), std::string(value));
  });
}

// An error without a message would print as its code alone.
absl::Status StatusFromC(const TF_Status* from) {
  if (from == nullptr || from->code == TSL_OK) return absl::OkStatus();
  if (from->is_deleted()) return absl::InvalidArgumentError(kDeletedText);
  absl::Status status(static_cast<absl::StatusCode>(from->code),
                      from->message.empty() ? "(no message)" : from->message);
  for (const auto& [key, value] : from->payloads) status.SetPayload(key, absl::Cord(value));
  return status;
}

}  // namespace tenon

using tenon::AbiWatch;
using tenon::IsThere;

extern "C" {

TSL_Status* TSL_NewStatus(void) {
  TSL_Status* const s = tenon::HandlePool<TSL_Status>::TryTake();
  if (s == nullptr) return nullptr;
  s->code = TSL_OK;
  s->pooled = true;
  if (AbiWatch* watch = AbiWatch::Active()) [[unlikely]]
    watch->Made(s, tenon::kStatusType);
  return s;
}

void TSL_DeleteStatus(TSL_Status* s) {
  if (s == nullptr) return;
  AbiWatch* const watch = AbiWatch::Active();
  if (watch != nullptr && !watch->TakeBack(s, tenon::kStatusType)) return;
  if (!IsThere(s, "TF_DeleteStatus")) return;
  if (!s->pooled) {
    return tenon::WarnOf(absl::InvalidArgumentError(
        "TF_DeleteStatus: this status is the host's, and not made by TF_NewStatus"));
  }
  tenon::FreeTexts(*s);
  s->code = TSL_Status::kDeleted;
  tenon::GiveOrBury(s);
}

void TSL_SetStatus(TSL_Status* s, TSL_Code code, const char* msg) try {
  if (!IsThere(s, "TF_SetStatus")) return;
  // `msg` may point into the message that is about to be replaced.
  std::string message = code == TSL_OK || msg == nullptr ? "" : msg;
  // A plug-in may pass any number; absl::Status has names for these only.
  s->code = code >= TSL_OK && code <= TSL_UNAUTHENTICATED ? code : TSL_UNKNOWN;
  s->message = std::move(message);
  s->payloads.clear();
} catch (...) {
  tenon::WithoutMemory(s);
}

void TSL_SetPayload(TSL_Status* s, const char* key, const char* value) try {
  // An OK status has no payloads, as in absl::Status.
  if (!IsThere(s, "TF_SetPayload") || key == nullptr || value == nullptr || s->code == TSL_OK)
    return;
  for (auto& [known, old] : s->payloads) {
    if (known != key) continue;
    old = value;
    return;
  }
  s->payloads.emplace_back(key, value);
} catch (...) {
  tenon::WithoutMemory(s);
}

void TSL_ForEachPayload(const TSL_Status* s, TSL_PayloadVisitor visitor, void* capture) {
  if (!IsThere(s, "TF_ForEachPayload")) return;
  for (const auto& [key, value] : s->payloads) visitor(key.c_str(), value.c_str(), capture);
}

void TSL_SetStatusFromIOError(TSL_Status* s, int error_code, const char* context) try {
  if (!IsThere(s, "TF_SetStatusFromIOError")) return;
  // 0 is no error: the status becomes OK, without a message.
  s->payloads.clear();
  s->code = tenon::CodeOfErrno(error_code);
  s->message = error_code == 0
                   ? ""
                   : absl::StrCat(context == nullptr ? "" : context, "; ", strerror(error_code));
} catch (...) {
  tenon::WithoutMemory(s);
}

// A deleted status must not read as success.
TSL_Code TSL_GetCode(const TSL_Status* s) {
  if (s == nullptr || !s->is_deleted()) [[likely]]
    return s == nullptr ? TSL_OK : s->code;
  tenon::TellOfDeleted("TF_GetCode");
  return TSL_INVALID_ARGUMENT;
}

const char* TSL_Message(const TSL_Status* s) {
  if (s == nullptr || IsThere(s, "TF_Message")) return s == nullptr ? "" : s->message.c_str();
  return tenon::kDeletedText;
}

TF_Status* TF_NewStatus(void) { return TSL_NewStatus(); }
void TF_DeleteStatus(TF_Status* s) { TSL_DeleteStatus(s); }
void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg) { TSL_SetStatus(s, code, msg); }
void TF_SetPayload(TF_Status* s, const char* key, const char* value) {
  TSL_SetPayload(s, key, value);
}
void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor, void* capture) {
  TSL_ForEachPayload(s, visitor, capture);
}
void TF_SetStatusFromIOError(TF_Status* s, int error_code, const char* context) {
  TSL_SetStatusFromIOError(s, error_code, context);
}
TF_Code TF_GetCode(const TF_Status* s) { return TSL_GetCode(s); }
const char* TF_Message(const TF_Status* s) { return TSL_Message(s); }

}  // extern "C"
