// TF_SessionRun and the functions for partial runs. A repeated run finds its compiled form by
// addresses alone; the names of nodes are made once, when the run is prepared.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/session/run_call.h"
#include "executor/api/session/run_names.h"
#include "executor/api/session/tf_session.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

bool ReadRunCall(const RunCall& call, RunArguments* arguments, TF_Status* status) {
  if (call.output_values != nullptr && IsCount(call.num_outputs))
    std::fill_n(call.output_values, call.num_outputs, nullptr);
  if (!IsArray("inputs", call.inputs, call.num_inputs, status) ||
      !IsArray("input_values", call.input_values, call.num_inputs, status) ||
      !IsArray("outputs", call.outputs, call.num_outputs, status) ||
      !IsArray("output_values", call.output_values, call.num_outputs, status) ||
      !IsArray("target_opers", call.targets, call.num_targets, status))
    return false;
  arguments->inputs = absl::MakeConstSpan(call.input_values, call.num_inputs);
  arguments->outputs = absl::MakeSpan(call.output_values, call.num_outputs);
  for (size_t i = 0; i < arguments->inputs.size(); ++i) {
    const TF_Tensor* const input = arguments->inputs[i];
    if (input != nullptr && !input->deleted) continue;
    StatusToC(
        absl::InvalidArgumentError(absl::StrCat("element ", i, " of argument 'input_values' ",
                                                input == nullptr ? "is NULL" : "was deleted")),
        status);
    return false;
  }
  return true;
}

}  // namespace tenon::api

using tenon::api::IsArray;
using tenon::api::RunArguments;
using tenon::api::RunEnds;

extern "C" {

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
                   TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
                   TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers,
                   int ntargets, TF_Buffer* run_metadata, TF_Status* status) try {
  RunArguments arguments{.options = run_options, .metadata = run_metadata};
  if (!tenon::api::ReadRunCall(
          {inputs, input_values, ninputs, outputs, output_values, noutputs, target_opers, ntargets},
          &arguments, status) ||
      !tenon::api::IsSession(session, status))
    return;
  const RunEnds ends{absl::MakeConstSpan(inputs, ninputs), absl::MakeConstSpan(outputs, noutputs),
                     absl::MakeConstSpan(target_opers, ntargets)};
  const absl::Status run = session->made->Run(ends, arguments);
  if (!run.ok()) tenon::StatusToC(run, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs, int ninputs,
                         const TF_Output* outputs, int noutputs,
                         const TF_Operation* const* target_opers, int ntargets, const char** handle,
                         TF_Status* status) try {
  if (handle != nullptr) *handle = nullptr;
  if (!tenon::api::IsSession(session, status) ||
      !tenon::api::AllGiven({{"handle", handle}}, status) ||
      !IsArray("inputs", inputs, ninputs, status) ||
      !IsArray("outputs", outputs, noutputs, status) ||
      !IsArray("target_opers", target_opers, ntargets, status))
    return;
  const absl::StatusOr<std::string> set_up = session->made->SetUpPartialRun(
      {absl::MakeConstSpan(inputs, ninputs), absl::MakeConstSpan(outputs, noutputs),
       absl::MakeConstSpan(target_opers, ntargets)});
  tenon::StatusToC(set_up.status(), status);
  if (set_up.ok()) *handle = tenon::api::NewRunName(*set_up);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SessionPRun(TF_Session* session, const char* handle, const TF_Output* inputs,
                    TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
                    TF_Tensor** output_values, int noutputs,
                    const TF_Operation* const* target_opers, int ntargets, TF_Status* status) try {
  RunArguments arguments;
  if (!tenon::api::ReadRunCall(
          {inputs, input_values, ninputs, outputs, output_values, noutputs, target_opers, ntargets},
          &arguments, status) ||
      !tenon::api::IsSession(session, status) ||
      !tenon::api::AllGiven({{"handle", handle}}, status))
    return;
  const RunEnds ends{absl::MakeConstSpan(inputs, ninputs), absl::MakeConstSpan(outputs, noutputs),
                     absl::MakeConstSpan(target_opers, ntargets)};
  tenon::StatusToC(session->made->ContinuePartialRun(handle, ends, arguments), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeletePRunHandle(const char* handle) try {
  if (handle != nullptr && !tenon::api::DeleteRunName(handle))
    tenon::TellOfDeleted("TF_DeletePRunHandle");
} catch (...) {
  tenon::WithoutMemory();
}

}  // extern "C"
