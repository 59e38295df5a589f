// The functions on TF_OpKernelContext: what a kernel may ask and do while it computes. Those that
// allocate stand in kernel_memory.cc.
#include "plugin/host/c_api/kernels/kernel_context.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/wire/wire.h"
#include "plugin/device/pending_calls.h"
#include "plugin/host/c_api/kernels/variable_access.h"

namespace tenon {
namespace {

constexpr std::string_view kDefaultContainer = "localhost";

bool InRange(int i, size_t n) { return i >= 0 && static_cast<size_t>(i) < n; }

absl::Status InputIndexError() { return absl::OutOfRangeError("input index out of range"); }
absl::Status OutputIndexError() { return absl::OutOfRangeError("output index out of range"); }

// Returns a handle on the value of the variable that input i refers to.
absl::StatusOr<TF_Tensor*> ReferredHandle(TF_OpKernelContext* ctx, int i) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, i));
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, variable));
  Device* const memory = MemoryOf(ctx, BaseType(ctx->kernel->node.types->inputs[i]));
  TENON_ASSIGN_OR_RETURN(Tensor value, HeldValue(ctx, i, variable, memory));
  return NewTensorHandle(std::move(value));
}

// Whether input i is a reference: the executor passes one as a resource tensor, while the type of
// the input is a reference type.
inline bool RefersToVariable(TF_OpKernelContext* ctx, int i) {
  return ctx->args->inputs[i].tensor->dtype() == DataType::kResource &&
         IsRef(ctx->kernel->types.inputs[i]);
}

inline bool HasElements(const Shape& shape) {
  for (const int64_t dim : shape.dims()) {
    if (dim == 0) return false;
  }
  return true;
}

// The common case of TF_GetInput, a tensor with elements: no share of the buffer and no allocation.
// Null where InputHandle has to serve.
inline TF_Tensor* LendInput(TF_OpKernelContext* ctx, int i) {
  if (ctx == nullptr || !InRange(i, ctx->args->inputs.size())) return nullptr;
  const Tensor& input = *ctx->args->inputs[i].tensor;
  return HasElements(input.shape()) && !RefersToVariable(ctx, i) ? ctx->loans.TryLend(input)
                                                                 : nullptr;
}

// Returns a handle on input i, of whatever kind.
absl::StatusOr<TF_Tensor*> InputHandle(TF_OpKernelContext* ctx, int i) {
  if (!InRange(i, ctx->args->inputs.size())) return InputIndexError();
  if (RefersToVariable(ctx, i)) return ReferredHandle(ctx, i);
  const Tensor& input = *ctx->args->inputs[i].tensor;
  if (input.initialized() && HasElements(input.shape())) return ctx->loans.Lend(input);
  if (input.dtype() == DataType::kInvalid) return nullptr;
  if (input.num_elements() == 0) {  // as in TensorFlow, an empty tensor shares nothing
    return NewTensorHandle(Tensor(input.dtype(), input.shape(),
                                  BufferRef::Adopt(Buffer::Wrap(nullptr, 0, nullptr, nullptr))));
  }
  return absl::FailedPreconditionError("attempt to use a tensor with an uninitialized value");
}

// Not inline: TF_GetInput is called for each input, and comes here for few.
[[gnu::noinline]] void GetOtherInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                                     TF_Status* status) {
  ctx = InCall(ctx, "TF_GetInput");
  const absl::StatusOr<TF_Tensor*> handle = InputHandle(ctx, i);
  if (!handle.ok()) return StatusToC(handle.status(), status);
  *tensor = *handle;
  if (*handle != nullptr) ClearStatus(status);
}

// TensorFlow aborts on an index out of range in functions without a status; here the step fails.
TF_DataType TypeAt(TF_OpKernelContext* ctx, const TypeVector& types, int i,
                   absl::Status (*error)()) {
  if (InRange(i, types.size())) return DataTypeToC(types[i]);
  ctx->Fail(error());
  return static_cast<TF_DataType>(0);
}

// An index out of range is an error in `status`, and not on the host.
bool OnHost(const absl::InlinedVector<bool, 8>& on_host, int i, absl::Status (*error)(),
            TF_Status* status) {
  const bool valid = InRange(i, on_host.size());
  StatusToC(valid ? absl::OkStatus() : error(), status);
  return valid && on_host[i];
}

// The bytes of a TensorShapeProto with known dimensions.
std::string TensorShapeProto(const Shape& shape) {
  std::string proto;
  for (const int64_t dim : shape.dims()) {
    std::string size;
    WireWriter(&size).Varint(1, static_cast<uint64_t>(dim));
    WireWriter(&proto).Bytes(2, size);
  }
  return proto;
}

// The bytes of TensorFlow's ResourceHandleProto for the resource that input i refers to: device,
// container, name, kind, and for a variable type and shape.
absl::StatusOr<std::string> ResourceHandleProto(TF_OpKernelContext* ctx, int i) {
  if (!InRange(i, ctx->args->inputs.size())) return InputIndexError();
  const Tensor& handle = *ctx->args->inputs[i].tensor;
  auto* const resource = handle.dtype() == DataType::kResource && handle.num_elements() == 1
                             ? dynamic_cast<Resource*>(handle.ObjectAt(0))
                             : nullptr;
  if (resource == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is no handle of a resource"));
  std::string proto;
  WireWriter writer(&proto);
  writer.Bytes(1, ctx->kernel->node.device_name);
  writer.Bytes(2, kDefaultContainer);
  writer.Bytes(3, resource->name());
  writer.Varint(4, std::hash<std::string_view>()(resource->kind()));
  writer.Bytes(5, resource->kind());
  if (const Variable* variable = ObjectAs<Variable>(resource)) {
    const Tensor value = variable->PeekHeld();
    std::string type_and_shape;
    WireWriter(&type_and_shape).Varint(1, static_cast<uint64_t>(value.dtype()));
    WireWriter(&type_and_shape).Bytes(2, TensorShapeProto(value.shape()));
    if (value.initialized()) writer.Bytes(6, type_and_shape);
  }
  return proto;
}

// Fills the buffer with what surrounds the kernel's node; with nothing where nothing does.
absl::Status FillFrom(TF_OpKernelContext* ctx, std::string KernelSurroundings::*bytes,
                      TF_Buffer* buffer) {
  if (buffer == nullptr) return absl::InvalidArgumentError("the buffer is NULL");
  const auto& surroundings = ctx->kernel->node.surroundings;
  return FillBuffer(surroundings == nullptr ? std::string_view() : (*surroundings).*bytes, buffer);
}

TF_StringView View(std::string_view s) { return {s.data(), s.size()}; }

absl::Status NotImplemented(std::string_view function) {
  return absl::UnimplementedError(absl::StrCat(function, " is not implemented by this host"));
}

// A rendezvous that exchanges nothing: each function reports UNIMPLEMENTED. Null functions would
// crash a plug-in.
void RefuseSend(void*, TF_RendezvousSend_Params* params) {
  StatusToC(NotImplemented("TF_GetRendezvous: send"), params->status);
}
void RefuseRecv(void*, TF_RendezvousAsyncRecv_Params* params) {
  CStatus status;
  StatusToC(NotImplemented("TF_GetRendezvous: receive"), status.get());
  TF_RendezvousDoneCallback_Params done{params->on_done.context, status.get(), nullptr, false};
  params->on_done.callback(params->on_done.context, &done);
}
void IgnoreAbort(void*, const TF_Status*) {}

// A kernel without a node: no inputs, no outputs, no attributes.
const KernelInfo& NoKernel() {
  static const OpDef* const op = new OpDef;
  static const AttrSet* const attrs = new AttrSet;
  static KernelInfo* const kernel = [] {
    auto* const info = new KernelInfo;
    info->def = std::make_shared<KernelDef>();
    info->node.op = op;
    info->node.attrs = attrs;
    info->node.types = &info->types;
    return info;
  }();
  return *kernel;
}

}  // namespace

TF_OpKernelContext* NoCall() {
  static TF_OpKernelContext* const context = [] {
    auto* const none = NewContext().release();
    none->kernel = &NoKernel();
    none->abandoned = true;
    return none;
  }();
  return context;
}

// Made as the library is loaded: the functions that answer from it have nothing to say where memory
// is short.
[[maybe_unused]] static TF_OpKernelContext* const made_early = NoCall();

TF_OpKernelConstruction* InConstruction(TF_OpKernelConstruction* construction) {
  if (construction != nullptr) return construction;
  thread_local TF_OpKernelConstruction none;
  none = {&NoKernel(), absl::OkStatus()};
  return &none;
}

}  // namespace tenon

using tenon::ClearStatus;
using tenon::StatusToC;

extern "C" {

SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  if (ctx->kernel->device == nullptr) {
    StatusToC(
        absl::FailedPreconditionError("Accessing device stream is not supported for a CPU device."),
        status);
    return nullptr;
  }
  // A late thread may ask when the device is gone: nothing is asked of the device before this.
  if (const absl::Status there = tenon::CheckDeviceIsThere(*ctx); !there.ok()) {
    StatusToC(there, status);
    return nullptr;
  }
  if (!ctx->kernel->device->has_streams()) {
    StatusToC(absl::FailedPreconditionError(
                  absl::StrCat("a device of type ", ctx->kernel->device->type(),
                               " has no streams: its kernels order their work by PJRT buffers")),
              status);
    return nullptr;
  }
  ClearStatus(status);
  return static_cast<SP_Stream>(tenon::StreamOfCall(*ctx->kernel->device, *ctx->args));
} catch (...) {
  return tenon::WithoutMemory(status);
}

int TF_NumInputs(TF_OpKernelContext* ctx) { return tenon::InCall(ctx, __func__)->num_inputs(); }
int TF_NumOutputs(TF_OpKernelContext* ctx) { return tenon::InCall(ctx, __func__)->num_outputs(); }

void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor, TF_Status* status) try {
  if (tensor == nullptr) [[unlikely]]
    return StatusToC(absl::InvalidArgumentError("argument 'tensor' is NULL"), status);
  TF_Tensor* const lent = tenon::LendInput(ctx, i);
  if (lent == nullptr) [[unlikely]]
    return tenon::GetOtherInput(ctx, i, tensor, status);
  *tensor = lent;
  ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_InputRange(TF_OpKernelContext* ctx, const char* name, TF_InputRange_Args* args) try {
  ctx = tenon::InCall(ctx, __func__);
  if (args == nullptr) return;
  const absl::StatusOr<std::pair<int, int>> range =
      tenon::RangeOf(*ctx->kernel, absl::NullSafeStringView(name));
  args->start = range.ok() ? range->first : -1;
  args->stop = range.ok() ? range->second : -1;
  StatusToC(range.status(), args->status);
} catch (...) {
  tenon::WithoutMemory(args == nullptr ? nullptr : args->status);
}

TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index) try {
  ctx = tenon::InCall(ctx, __func__);
  return tenon::TypeAt(ctx, ctx->kernel->node.types->inputs, index, tenon::InputIndexError);
} catch (...) {
  return tenon::WithoutMemory();
}

TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i) try {
  ctx = tenon::InCall(ctx, __func__);
  return tenon::TypeAt(ctx, ctx->kernel->node.types->outputs, i, tenon::OutputIndexError);
} catch (...) {
  return tenon::WithoutMemory();
}

bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  return tenon::OnHost(ctx->kernel->memory.input_on_host, i, tenon::InputIndexError, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  return tenon::OnHost(ctx->kernel->memory.output_on_host, i, tenon::OutputIndexError, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

// The first failure stays, whatever the kernel reports later.
void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  ctx->Fail(tenon::StatusFromC(status));
} catch (...) {
  tenon::WithoutMemory(status);
}

// `arg` is a number of pending_calls.h, not an address: a second call finds no context.
void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* arg) try {
  auto* const context = static_cast<TF_OpKernelContext*>(tenon::TakePendingCall(arg));
  if (context == nullptr) return;
  absl::MutexLock lock(&tenon::EndsOfWork());
  context->done = true;
} catch (...) {
  tenon::WithoutMemory();
}

void TF_IncNumDeferredOps(TF_OpKernelContext* context) {
  context = tenon::InCall(context, __func__);
  context->deferred.fetch_add(1, std::memory_order_acq_rel);
}

void TF_DecNumDeferredOps(TF_OpKernelContext* context) {
  context = tenon::InCall(context, __func__);
  absl::MutexLock lock(&tenon::EndsOfWork());  // wakes the host, which waits for zero
  context->deferred.fetch_sub(1, std::memory_order_acq_rel);
}

int64_t TF_StepId(TF_OpKernelContext* ctx) { return tenon::InCall(ctx, __func__)->args->step_id; }
int64_t TF_GetStepId(TF_OpKernelContext* ctx) {
  return tenon::InCall(ctx, __func__)->args->step_id;
}
uint64_t TF_GetFrameId(TF_OpKernelContext* ctx) {
  return tenon::InCall(ctx, __func__)->args->frame_id;
}
int64_t TF_GetIterId(TF_OpKernelContext* ctx) {
  return tenon::InCall(ctx, __func__)->args->iter_id;
}

int TF_GetDeviceId(TF_OpKernelContext* ctx) {
  ctx = tenon::InCall(ctx, __func__);
  return ctx->kernel->device_id;
}
TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx) {
  ctx = tenon::InCall(ctx, __func__);
  return tenon::View(ctx->kernel->node.device_name);
}
int TF_GetGraphDefVersion(TF_OpKernelContext* ctx) {
  return tenon::InCall(ctx, __func__)->kernel->node.graph_def_version;
}
TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx) {
  return tenon::View(tenon::InCall(ctx, __func__)->kernel->name);
}
TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx) {
  ctx = tenon::InCall(ctx, __func__);
  return tenon::View(tenon::kDefaultContainer);
}

TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx, size_t index) {
  ctx = tenon::InCall(ctx, __func__);
  const std::vector<std::string>& names = ctx->kernel->node.input_names;
  return index < names.size() ? tenon::View(names[index]) : TF_StringView{nullptr, 0};
}

TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx) {
  ctx = tenon::InCall(ctx, __func__);
  return {ctx, tenon::RefuseSend, tenon::RefuseRecv, tenon::IgnoreAbort};
}

void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext* ctx,
                                        TF_Buffer* serialized_function_def_library,
                                        TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  StatusToC(tenon::FillFrom(ctx, &tenon::KernelSurroundings::function_library,
                            serialized_function_def_library),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx, TF_Buffer* serialized_config_proto,
                                 TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  StatusToC(tenon::FillFrom(ctx, &tenon::KernelSurroundings::config_proto, serialized_config_proto),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetSerializedResourceHandleProto(TF_OpKernelContext* ctx, int i,
                                         TF_Buffer* serialized_resource_handle_proto,
                                         TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  if (serialized_resource_handle_proto == nullptr)
    return StatusToC(absl::InvalidArgumentError("the buffer is NULL"), status);
  const absl::StatusOr<std::string> proto = tenon::ResourceHandleProto(ctx, i);
  StatusToC(
      proto.ok() ? tenon::FillBuffer(*proto, serialized_resource_handle_proto) : proto.status(),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
