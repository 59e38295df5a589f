// The functions of eager/c_api_experimental.h on executors.
#include "executor/api/eager/context.h"
#include "executor/api/eager/executor_queue.h"
#include "graph/c_api/c_api_internal.h"
#include "tensorflow/c/eager/c_api_experimental.h"

using tenon::StatusToC;
using tenon::eager::Context;
using tenon::eager::ContextOf;

extern "C" {

TFE_Executor* TFE_NewExecutor(bool is_async, bool /*enable_streaming_enqueue*/,
                              int in_flight_nodes_limit) {
  const size_t limit = in_flight_nodes_limit > 0 ? static_cast<size_t>(in_flight_nodes_limit) : 0;
  return new TFE_Executor{std::make_shared<tenon::eager::Executor>(is_async, limit)};
}

void TFE_DeleteExecutor(TFE_Executor* executor) { delete executor; }

bool TFE_ExecutorIsAsync(TFE_Executor* executor) {
  return executor != nullptr && executor->executor->async();
}

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor, TF_Status* status) {
  StatusToC(executor == nullptr ? absl::InvalidArgumentError("Invalid executor")
                                : executor->executor->Wait(),
            status);
}

void TFE_ExecutorClearError(TFE_Executor* executor) {
  if (executor != nullptr) executor->executor->ClearError();
}

void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor) {
  if (const absl::StatusOr<Context*> context = ContextOf(ctx); context.ok())
    (*context)->SetThreadExecutor(executor == nullptr ? nullptr : executor->executor);
}

TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx) {
  const absl::StatusOr<Context*> context = ContextOf(ctx);
  return context.ok() ? new TFE_Executor{(*context)->executor()} : nullptr;
}

void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status) {
  const absl::StatusOr<Context*> context = ContextOf(ctx);
  StatusToC(context.ok() ? (*context)->EndAll() : context.status(), status);
}

}  // extern "C"
