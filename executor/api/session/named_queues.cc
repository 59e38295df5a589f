// The functions of c_api_experimental.h that reach queues by the names of operations.
#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/session/tf_session.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"

namespace tenon::api {
namespace {

// The operation PREFIX + ID of the session's graph; null, with INTERNAL, if there is none.
TF_Operation* FindNumbered(TF_Session* session, const char* prefix, int id, const char* what,
                           TF_Status* status) {
  TF_Operation* const found =
      TF_GraphOperationByName(session->made->graph(), absl::StrCat(prefix, id).c_str());
  if (found == nullptr) {
    StatusToC(absl::InternalError(absl::StrCat("Unable to find the ", what, " in the TF graph.")),
              status);
  }
  return found;
}

}  // namespace
}  // namespace tenon::api

using tenon::api::FindNumbered;

extern "C" {

TF_Tensor* TF_DequeueNamedTensor(TF_Session* session, int tensor_id, TF_Status* status) try {
  if (!tenon::api::IsSession(session, status)) return nullptr;
  TF_Operation* const dequeue =
      FindNumbered(session, "fifo_queue_dequeue_", tensor_id, "dequeue node", status);
  if (dequeue == nullptr) return nullptr;
  const TF_Output output{dequeue, 0};
  TF_Tensor* value = nullptr;
  TF_SessionRun(session, nullptr, nullptr, nullptr, 0, &output, &value, 1, nullptr, 0, nullptr,
                status);
  return value;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_EnqueueNamedTensor(TF_Session* session, int tensor_id, TF_Tensor* tensor,
                           TF_Status* status) try {
  if (!tenon::api::IsSession(session, status) ||
      !tenon::api::AllGiven({{"tensor", tensor}}, status))
    return;
  TF_Operation* const enqueue =
      FindNumbered(session, "fifo_queue_enqueue_", tensor_id, "enqueue node", status);
  if (enqueue == nullptr) return;
  TF_Operation* const placeholder = FindNumbered(session, "arg_tensor_enqueue_", tensor_id,
                                                 "placeholder node as input to enqueue", status);
  if (placeholder == nullptr) return;
  const TF_Output input{placeholder, 0};
  TF_SessionRun(session, nullptr, &input, &tensor, 1, nullptr, nullptr, 0, &enqueue, 1, nullptr,
                status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
