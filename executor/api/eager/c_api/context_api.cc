// The functions of eager/c_api.h that make, ask and delete contexts.
#include <climits>

#include "absl/status/status.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/device_list.h"
#include "executor/api/eager/context.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api.h"

using tenon::ClearStatus;
using tenon::SharedHandlePool;
using tenon::StatusToC;
using tenon::api::NoneDeleted;
using tenon::eager::Context;

extern "C" {

TFE_ContextOptions* TFE_NewContextOptions(void) try {
  return TFE_ContextOptions::Pool::New();
} catch (...) {
  return tenon::WithoutMemory();
}
void TFE_DeleteContextOptions(TFE_ContextOptions* options) { tenon::DeleteHandle(options); }

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto, size_t proto_len,
                                 TF_Status* status) try {
  ClearStatus(status);
  if (!NoneDeleted({{"options", options}}, status)) return;
  if (options == nullptr || proto_len > INT_MAX || (proto == nullptr && proto_len > 0))
    return StatusToC(absl::InvalidArgumentError("Invalid context options"), status);
  const std::string_view bytes(static_cast<const char*>(proto), proto_len);
  StatusToC(tenon::eager::SetConfig(bytes, options->options), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options, unsigned char enable) {
  if (tenon::IsThere(options)) options->options.async = enable != 0;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions* options,
                                                TFE_ContextDevicePlacementPolicy policy) {
  if (tenon::IsThere(options)) options->options.policy = policy;
}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) try {
  ClearStatus(status);
  if (!NoneDeleted({{"opts", opts}}, status)) return nullptr;
  if (opts == nullptr) {
    StatusToC(absl::InvalidArgumentError("Invalid context options"), status);
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<Context>> context = Context::Make(opts->options);
  if (!context.ok()) {
    StatusToC(context.status(), status);
    return nullptr;
  }
  TFE_Context* const shell = SharedHandlePool<TFE_Context>::Take();
  shell->generation.fetch_add(1);
  shell->context.store(context->release(), std::memory_order_release);
  return shell;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_DeleteContext(TFE_Context* ctx) try {
  if (ctx == nullptr) return;
  Context* const context = ctx->context.exchange(nullptr);
  if (context == nullptr) return tenon::TellOfDeleted("TFE_DeleteContext");
  ctx->generation.fetch_add(1);
  delete context;
  SharedHandlePool<TFE_Context>::Give(ctx);
} catch (...) {
  tenon::WithoutMemory();
}

TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) try {
  const absl::StatusOr<Context*> context = tenon::eager::ContextOf(ctx);
  StatusToC(context.status(), status);
  if (!context.ok()) return nullptr;
  return tenon::api::ListDevices((*context)->devices(), (*context)->incarnation());
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_ContextClearCaches(TFE_Context* ctx) try {
  if (Context* const context = tenon::eager::ContextIfThere(ctx)) context->ClearCaches();
} catch (...) {
  tenon::WithoutMemory();
}

}  // extern "C"
