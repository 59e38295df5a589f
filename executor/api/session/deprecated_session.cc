// The functions of c_api.h for sessions that have a graph for themselves.
#include <memory>
#include <string>

#include "executor/api/base/arguments.h"
#include "executor/api/session/run_call.h"
#include "executor/api/session/run_names.h"
#include "executor/api/session/tf_deprecated_session.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

bool IsArrayOfTexts(const char* name, const char* const* texts, int count, TF_Status* status) {
  if (!IsArray(name, texts, count, status)) return false;
  for (int i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return AllGiven({{name, texts[i]}}, status);
  }
  return true;
}

// The names of a run, if they can be read.
bool ReadNames(const RunCall& call, NamedSession::Names* names, TF_Status* status) {
  const auto* const inputs = static_cast<const char* const*>(call.inputs);
  const auto* const outputs = static_cast<const char* const*>(call.outputs);
  const auto* const targets = static_cast<const char* const*>(call.targets);
  if (!IsArrayOfTexts("input_names", inputs, call.num_inputs, status) ||
      !IsArrayOfTexts("output_names", outputs, call.num_outputs, status) ||
      !IsArrayOfTexts("target_oper_names", targets, call.num_targets, status))
    return false;
  *names = {absl::MakeConstSpan(inputs, call.num_inputs),
            absl::MakeConstSpan(outputs, call.num_outputs),
            absl::MakeConstSpan(targets, call.num_targets)};
  return true;
}

}  // namespace

}  // namespace tenon::api

using tenon::api::IsSession;
using tenon::api::NamedSession;
using tenon::api::RunArguments;
using tenon::api::RunCall;
using tenon::api::SessionCore;

extern "C" {

TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* options,
                                              TF_Status* status) try {
  if (!tenon::api::NoneDeleted({{"options", options}}, status)) return nullptr;
  const TF_SessionOptions defaults;
  absl::StatusOr<std::unique_ptr<SessionCore>> core =
      SessionCore::Make(options == nullptr ? defaults : *options);
  tenon::StatusToC(core.status(), status);
  if (!core.ok()) return nullptr;
  return TF_DeprecatedSession::Pool::New(std::make_unique<NamedSession>(*std::move(core)));
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) try {
  if (IsSession(session, status)) session->made->core().Close();
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) try {
  tenon::ClearStatus(status);
  if (session == nullptr || !IsSession(session, status)) return;
  TF_DeprecatedSession::Pool::Delete(session);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_Reset(const TF_SessionOptions* opt, const char** containers, int ncontainers,
              TF_Status* status) try {
  const TF_SessionOptions defaults;
  if (!tenon::api::NoneDeleted({{"opt", opt}}, status) ||
      !tenon::api::IsArrayOfTexts("containers", containers, ncontainers, status))
    return;
  const absl::Status target =
      tenon::api::CheckTarget(opt == nullptr ? defaults.target : opt->target);
  if (target.ok()) SessionCore::CloseAll();
  tenon::StatusToC(target, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto, size_t proto_len,
                    TF_Status* status) try {
  if (!IsSession(session, status) || !tenon::api::IsBytes("proto", proto, proto_len, status))
    return;
  tenon::StatusToC(session->made->Extend({static_cast<const char*>(proto), proto_len}), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options, const char** input_names,
            TF_Tensor** inputs, int ninputs, const char** output_names, TF_Tensor** outputs,
            int noutputs, const char** target_oper_names, int ntargets, TF_Buffer* run_metadata,
            TF_Status* status) try {
  const RunCall call{input_names, inputs,   ninputs,           output_names,
                     outputs,     noutputs, target_oper_names, ntargets};
  RunArguments arguments{.options = run_options, .metadata = run_metadata};
  NamedSession::Names names;
  if (!tenon::api::ReadRunCall(call, &arguments, status) ||
      !tenon::api::ReadNames(call, &names, status) || !IsSession(session, status))
    return;
  tenon::StatusToC(session->made->Run(names, arguments), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names, int ninputs,
                  const char** output_names, int noutputs, const char** target_oper_names,
                  int ntargets, const char** handle, TF_Status* status) try {
  if (handle != nullptr) *handle = nullptr;
  const RunCall call{input_names, nullptr,  ninputs,           output_names,
                     nullptr,     noutputs, target_oper_names, ntargets};
  NamedSession::Names names;
  if (!IsSession(session, status) || !tenon::api::AllGiven({{"handle", handle}}, status) ||
      !tenon::api::ReadNames(call, &names, status))
    return;
  const absl::StatusOr<std::string> set_up = session->made->SetUpPartialRun(names);
  tenon::StatusToC(set_up.status(), status);
  if (set_up.ok()) *handle = tenon::api::NewRunName(*set_up);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_PRun(TF_DeprecatedSession* session, const char* handle, const char** input_names,
             TF_Tensor** inputs, int ninputs, const char** output_names, TF_Tensor** outputs,
             int noutputs, const char** target_oper_names, int ntargets, TF_Status* status) try {
  const RunCall call{input_names, inputs,   ninputs,           output_names,
                     outputs,     noutputs, target_oper_names, ntargets};
  RunArguments arguments;
  NamedSession::Names names;
  if (!tenon::api::ReadRunCall(call, &arguments, status) ||
      !tenon::api::ReadNames(call, &names, status) || !IsSession(session, status) ||
      !tenon::api::AllGiven({{"handle", handle}}, status))
    return;
  tenon::StatusToC(session->made->ContinuePartialRun(handle, names, arguments), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
