// The functions of eager/c_api.h that make, ask and delete contexts.
#include "absl/status/status.h"
#include "executor/api/base/device_list.h"
#include "executor/api/eager/context.h"
#include "graph/c_api/c_api_internal.h"
#include "tensorflow/c/eager/c_api.h"

using tenon::ClearStatus;
using tenon::StatusToC;
using tenon::eager::Context;
using tenon::eager::ObjectPool;

extern "C" {

TFE_ContextOptions* TFE_NewContextOptions(void) { return new TFE_ContextOptions; }
void TFE_DeleteContextOptions(TFE_ContextOptions* options) { delete options; }

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto, size_t proto_len,
                                 TF_Status* status) {
  ClearStatus(status);
  if (options == nullptr || (proto == nullptr && proto_len > 0))
    return StatusToC(absl::InvalidArgumentError("Invalid context options"), status);
  const std::string_view bytes(static_cast<const char*>(proto), proto_len);
  StatusToC(tenon::eager::SetConfig(bytes, options->options), status);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options, unsigned char enable) {
  if (options != nullptr) options->options.async = enable != 0;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions* options,
                                                TFE_ContextDevicePlacementPolicy policy) {
  if (options != nullptr) options->options.policy = policy;
}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) {
  ClearStatus(status);
  if (opts == nullptr) {
    StatusToC(absl::InvalidArgumentError("Invalid context options"), status);
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<Context>> context = Context::Make(opts->options);
  if (!context.ok()) {
    StatusToC(context.status(), status);
    return nullptr;
  }
  TFE_Context* const shell = ObjectPool<TFE_Context>::Take();
  shell->generation.fetch_add(1);
  shell->context.store(context->release(), std::memory_order_release);
  return shell;
}

void TFE_DeleteContext(TFE_Context* ctx) {
  if (ctx == nullptr) return;
  Context* const context = ctx->context.exchange(nullptr);
  if (context == nullptr) return;  // it is deleted already
  ctx->generation.fetch_add(1);
  delete context;
  ObjectPool<TFE_Context>::Give(ctx);
}

TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) {
  const absl::StatusOr<Context*> context = tenon::eager::ContextOf(ctx);
  StatusToC(context.status(), status);
  if (!context.ok()) return nullptr;
  return tenon::api::ListDevices((*context)->devices(), (*context)->incarnation()).release();
}

void TFE_ContextClearCaches(TFE_Context* ctx) {
  if (const absl::StatusOr<Context*> context = tenon::eager::ContextOf(ctx); context.ok())
    (*context)->ClearCaches();
}

}  // extern "C"
