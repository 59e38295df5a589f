// The functions of c_api.h that make and end sessions.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/process.h"
#include "executor/api/session/tf_session.h"
#include "graph/base/status_macros.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

absl::StatusOr<std::unique_ptr<TF_Session>> MakeSession(TF_Graph* graph,
                                                        const TF_SessionOptions& options) {
  if (!options.target.empty() && options.target != "local") {
    return absl::NotFoundError(
        absl::StrCat("No session factory registered for the given session options: {target: \"",
                     options.target, "\"}"));
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Device*> devices, ProcessDevices());
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Create(Graph(), std::move(devices), options.options));
  return std::make_unique<TF_Session>(graph, std::move(session));
}

}  // namespace
}  // namespace tenon::api

using tenon::api::AllGiven;

extern "C" {

TF_SessionOptions* TF_NewSessionOptions(void) { return new TF_SessionOptions; }

void TF_SetTarget(TF_SessionOptions* options, const char* target) {
  if (options != nullptr) options->target = absl::NullSafeStringView(target);
}

void TF_DeleteSessionOptions(TF_SessionOptions* options) { delete options; }

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status) {
  if (!AllGiven({{"graph", graph}}, status)) return nullptr;
  const TF_SessionOptions defaults;
  absl::StatusOr<std::unique_ptr<TF_Session>> session =
      tenon::api::MakeSession(graph, opts == nullptr ? defaults : *opts);
  tenon::StatusToC(session.status(), status);
  if (!session.ok()) return nullptr;
  tenon::api::AddSession(graph);
  return session->release();
}

void TF_CloseSession(TF_Session* session, TF_Status* status) {
  if (!AllGiven({{"session", session}}, status)) return;
  session->closed = true;
}

void TF_DeleteSession(TF_Session* session, TF_Status* status) {
  tenon::ClearStatus(status);
  if (session == nullptr) return;
  TF_Graph* const graph = session->graph;
  delete session;
  tenon::api::DropSession(graph);
}

}  // extern "C"
