// The functions of eager/c_api_experimental.h on executors.
#include "executor/api/base/arguments.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/executor_queue.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

using tenon::IsThere;
using tenon::StatusToC;
using tenon::eager::Context;
using tenon::eager::ContextOf;

extern "C" {

TFE_Executor* TFE_NewExecutor(bool is_async, bool /*enable_streaming_enqueue*/,
                              int in_flight_nodes_limit) try {
  const size_t limit = in_flight_nodes_limit > 0 ? static_cast<size_t>(in_flight_nodes_limit) : 0;
  return TFE_Executor::Pool::New(std::make_shared<tenon::eager::Executor>(is_async, limit));
} catch (...) {
  return tenon::WithoutMemory();
}

void TFE_DeleteExecutor(TFE_Executor* executor) {
  if (!IsThere(executor)) return;
  const TFE_Executor last = *executor;
  tenon::DeleteHandle(executor);
  if (last.is_maker) last.executor->Retire();
}

bool TFE_ExecutorIsAsync(TFE_Executor* executor) {
  return IsThere(executor) && executor->executor->async();
}

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor, TF_Status* status) try {
  if (executor == nullptr) return StatusToC(absl::InvalidArgumentError("Invalid executor"), status);
  if (tenon::api::AllGiven({{"executor", executor}}, status))
    StatusToC(executor->executor->Wait(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ExecutorClearError(TFE_Executor* executor) {
  if (IsThere(executor)) executor->executor->ClearError();
}

void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor) try {
  if (executor != nullptr && !IsThere(executor)) return;
  if (Context* const context = tenon::eager::ContextIfThere(ctx))
    context->SetThreadExecutor(executor == nullptr ? nullptr : executor->executor);
} catch (...) {
  tenon::WithoutMemory();
}

TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx) try {
  Context* const context = tenon::eager::ContextIfThere(ctx);
  return context != nullptr ? TFE_Executor::Pool::New(context->executor(), false) : nullptr;
} catch (...) {
  return tenon::WithoutMemory();
}

void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status) try {
  const absl::StatusOr<Context*> context = ContextOf(ctx);
  StatusToC(context.ok() ? (*context)->EndAll() : context.status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
