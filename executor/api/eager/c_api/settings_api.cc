// The functions of the eager headers that set how a context works, and ask what it has done.
#include "executor/api/eager/context.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

absl::Status UseLogicalCpus(TFE_Context* shell, int count) {
  TENON_RETURN_IF_ERROR(ContextOf(shell).status());
  if (count == 1) return absl::OkStatus();
  if (count < 1) return absl::InvalidArgumentError("a context needs a CPU");
  return absl::UnimplementedError("the host is one device, which cannot be split into several");
}

void SwitchGraphNotes(TFE_Context* shell, bool on, bool times,
                      const char* function = __builtin_FUNCTION()) {
  if (Context* const context = ContextIfThere(shell, function))
    context->graph_notes().Switch(on, times);
}

absl::Status ExportGraphNotes(TFE_Context* shell, TF_Buffer* buffer) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  if (buffer == nullptr) return absl::InvalidArgumentError("Invalid buffer");
  if (buffer->data != nullptr) return FillBuffer("", buffer);  // its error; the notes stay
  TENON_RETURN_IF_ERROR(context->WaitForAll());
  return FillBuffer(context->graph_notes().Take(), buffer);
}

// Sets `buffer` to no bytes.
absl::Status FillWithNothing(TFE_Context* shell, TF_Buffer* buffer) {
  TENON_RETURN_IF_ERROR(ContextOf(shell).status());
  if (buffer == nullptr) return absl::InvalidArgumentError("Invalid buffer");
  return FillBuffer("", buffer);
}

}  // namespace
}  // namespace tenon::eager

using tenon::StatusToC;
using tenon::eager::Context;
using tenon::eager::ContextOf;
using tenon::eager::SwitchGraphNotes;

extern "C" {

void TFE_ContextOptionsSetTfrt(TFE_ContextOptions* options, bool) { tenon::IsThere(options); }

void TFE_ContextSetThreadLocalDevicePlacementPolicy(TFE_Context* ctx,
                                                    TFE_ContextDevicePlacementPolicy policy) try {
  if (Context* const context = tenon::eager::ContextIfThere(ctx)) context->SetThreadPolicy(policy);
} catch (...) {
  tenon::WithoutMemory();
}

TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context* ctx) {
  Context* const context = tenon::eager::ContextIfThere(ctx);
  return context != nullptr ? context->policy() : TFE_DEVICE_PLACEMENT_SILENT;
}

void TFE_ContextSetSoftDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                       TF_Status* status) try {
  const absl::StatusOr<Context*> context = ContextOf(ctx);
  StatusToC(context.status(), status);
  if (context.ok()) (*context)->set_soft_placement(enable != 0);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextSetLogDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                      TF_Status* status) try {
  const absl::StatusOr<Context*> context = ContextOf(ctx);
  StatusToC(context.status(), status);
  if (context.ok()) (*context)->set_log_placement(enable != 0);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextSetRunEagerOpAsFunction(TFE_Context* ctx, unsigned char, TF_Status* status) try {
  StatusToC(ContextOf(ctx).status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextSetJitCompileRewrite(TFE_Context* ctx, unsigned char, TF_Status* status) try {
  StatusToC(ContextOf(ctx).status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextEnableRunMetadata(TFE_Context* ctx) try {
  SwitchGraphNotes(ctx, true, true);
} catch (...) {
  tenon::WithoutMemory();
}
void TFE_ContextDisableRunMetadata(TFE_Context* ctx) try {
  SwitchGraphNotes(ctx, false, false);
} catch (...) {
  tenon::WithoutMemory();
}
void TFE_ContextEnableGraphCollection(TFE_Context* ctx) try {
  SwitchGraphNotes(ctx, true, false);
} catch (...) {
  tenon::WithoutMemory();
}
void TFE_ContextDisableGraphCollection(TFE_Context* ctx) try {
  SwitchGraphNotes(ctx, false, false);
} catch (...) {
  tenon::WithoutMemory();
}
void TFE_ContextExportRunMetadata(TFE_Context* ctx, TF_Buffer* buf, TF_Status* status) try {
  StatusToC(tenon::eager::ExportGraphNotes(ctx, buf), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

// What lives for a step, such as a TensorArray, goes with the handles on it.
void TFE_ContextStartStep(TFE_Context*) {}
void TFE_ContextEndStep(TFE_Context*) {}

void TFE_SetLogicalCpuDevices(TFE_Context* ctx, int num_cpus, const char*, TF_Status* status) try {
  StatusToC(tenon::eager::UseLogicalCpus(ctx, num_cpus), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_GetExecutedOpNames(TFE_Context* ctx, TF_Buffer* buf, TF_Status* status) try {
  StatusToC(tenon::eager::FillWithNothing(ctx, buf), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
