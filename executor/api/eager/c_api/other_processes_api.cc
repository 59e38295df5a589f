// The functions of the eager headers that concern other processes. Tenon is one process, and says
// so.
#include "absl/strings/str_cat.h"
#include "executor/api/eager/context.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

// What every function here answers, if its context is valid.
void SayAlone(TFE_Context* shell, const char* what, TF_Status* status) {
  const absl::StatusOr<Context*> context = ContextOf(shell);
  StatusToC(context.ok() ? absl::UnimplementedError(absl::StrCat(
                               what, " needs other processes; Tenon runs in this process alone"))
                         : context.status(),
            status);
}

}  // namespace
}  // namespace tenon::eager

using tenon::eager::SayAlone;

extern "C" {

void TFE_ContextSetServerDef(TFE_Context* ctx, int, const void*, size_t, TF_Status* status) try {
  SayAlone(ctx, "TFE_ContextSetServerDef", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_ContextUpdateServerDef(TFE_Context* ctx, int, const void*, size_t, TF_Status* status) try {
  SayAlone(ctx, "TFE_ContextUpdateServerDef", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_ContextUpdateServerDefWithTimeout(TFE_Context* ctx, int, const void*, size_t, int64_t,
                                           TF_Status* status) try {
  SayAlone(ctx, "TFE_ContextUpdateServerDefWithTimeout", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_ContextSetServerDefWithTimeout(TFE_Context* ctx, int, const void*, size_t, int64_t,
                                        TF_Status* status, bool) try {
  SayAlone(ctx, "TFE_ContextSetServerDefWithTimeout", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_ContextSetServerDefWithTimeoutAndRetries(TFE_Context* ctx, int, const void*, size_t,
                                                  int64_t, int, TF_Status* status, bool) try {
  SayAlone(ctx, "TFE_ContextSetServerDefWithTimeoutAndRetries", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
bool TFE_ContextCheckAlive(TFE_Context* ctx, const char*, TF_Status* status) try {
  SayAlone(ctx, "TFE_ContextCheckAlive", status);
  return false;
} catch (...) {
  return tenon::WithoutMemory(status);
}
void TFE_InsertConfigKeyValue(TFE_Context* ctx, const char*, const char*, TF_Status* status) try {
  SayAlone(ctx, "TFE_InsertConfigKeyValue", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_GetConfigKeyValue(TFE_Context* ctx, const char*, int64_t, TF_Buffer*,
                           TF_Status* status) try {
  SayAlone(ctx, "TFE_GetConfigKeyValue", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_DeleteConfigKeyValue(TFE_Context* ctx, const char*, TF_Status* status) try {
  SayAlone(ctx, "TFE_DeleteConfigKeyValue", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_ReportErrorToCluster(TFE_Context* ctx, int, const char*, TF_Status* status) try {
  SayAlone(ctx, "TFE_ReportErrorToCluster", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_GetTaskStates(TFE_Context* ctx, const TF_Buffer&, void*, TF_Status* status) try {
  SayAlone(ctx, "TFE_GetTaskStates", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_WaitAtBarrier(TFE_Context* ctx, const char*, int64_t, TF_Status* status) try {
  SayAlone(ctx, "TFE_WaitAtBarrier", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_InitializeLocalOnlyContext(TFE_Context* ctx, int, const void*, size_t,
                                    TF_Status* status) try {
  SayAlone(ctx, "TFE_InitializeLocalOnlyContext", status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_EnableCollectiveOps(TFE_Context* ctx, const void*, size_t, TF_Status* status) try {
  SayAlone(ctx, "TFE_EnableCollectiveOps", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_AbortCollectiveOps(TFE_Context* ctx, TF_Status* status) try {
  SayAlone(ctx, "TFE_AbortCollectiveOps", status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TFE_CollectiveOpsCheckPeerHealth(TFE_Context* ctx, const char*, int64_t,
                                      TF_Status* status) try {
  SayAlone(ctx, "TFE_CollectiveOpsCheckPeerHealth", status);
} catch (...) {
  tenon::WithoutMemory(status);
}

// Of a context that is part of no cluster.
uint64_t TFE_GetContextId(TFE_Context*) { return 0; }

void TFE_HostAddressSpace(TFE_Context* ctx, TF_Buffer* buf) try {
  if (!tenon::IsThere(buf) || tenon::eager::ContextIfThere(ctx) == nullptr) return;
  tenon::FillBuffer("/job:localhost/replica:0/task:0", buf).IgnoreError();
} catch (...) {
  tenon::WithoutMemory();
}

}  // extern "C"
