// The functions of c_api.h that make and end sessions.
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "executor/api/session/tf_session.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api.h"

using tenon::api::AllGiven;
using tenon::api::GraphSession;
using tenon::api::SessionCore;

extern "C" {

TF_SessionOptions* TF_NewSessionOptions(void) try {
  return TF_SessionOptions::Pool::New();
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_SetTarget(TF_SessionOptions* options, const char* target) try {
  if (tenon::IsThere(options)) options->target = absl::NullSafeStringView(target);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_SetConfig(TF_SessionOptions* options, const void* proto, size_t proto_len,
                  TF_Status* status) try {
  if (!AllGiven({{"options", options}}, status) ||
      !tenon::api::IsBytes("proto", proto, proto_len, status))
    return;
  absl::StatusOr<tenon::api::SessionConfig> config =
      tenon::api::ReadSessionConfig({static_cast<const char*>(proto), proto_len});
  tenon::StatusToC(config.status(), status);
  if (config.ok()) options->config = *std::move(config);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteSessionOptions(TF_SessionOptions* options) { tenon::DeleteHandle(options); }

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}}, status) || !tenon::api::NoneDeleted({{"opts", opts}}, status))
    return nullptr;
  const TF_SessionOptions defaults;
  absl::StatusOr<std::unique_ptr<SessionCore>> core =
      SessionCore::Make(opts == nullptr ? defaults : *opts);
  tenon::StatusToC(core.status(), status);
  if (!core.ok()) return nullptr;
  return TF_Session::Pool::New(std::make_unique<GraphSession>(graph, *std::move(core)));
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_CloseSession(TF_Session* session, TF_Status* status) try {
  if (tenon::api::IsSession(session, status)) session->made->core().Close();
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ExtendSession(TF_Session* session, TF_Status* status) try {
  if (tenon::api::IsSession(session, status)) tenon::StatusToC(session->made->Update(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteSession(TF_Session* session, TF_Status* status) try {
  tenon::ClearStatus(status);
  if (session == nullptr || !tenon::api::IsSession(session, status)) return;
  TF_Session::Pool::Delete(session);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
