// Outputs and scratch memory of a kernel's execution.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/tensor_guards.h"
#include "graph/c_api/without_memory.h"
#include "plugin/host/c_api/kernels/kernel_context.h"

namespace tenon {
namespace {

const KernelInfo& Info(TF_OpKernelContext* ctx) { return *ctx->kernel; }

// Refuses negative and overflowing dimensions, which a plug-in may pass.
absl::StatusOr<Shape> ShapeFromC(const int64_t* dims, int num_dims) {
  if (num_dims == 0) return Shape();
  if (num_dims < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor cannot have ", num_dims, " dimensions"));
  if (dims == nullptr) return absl::InvalidArgumentError("the dimensions are NULL");
  return Shape::Make(absl::MakeConstSpan(dims, num_dims));
}

absl::Status TakeDeviceMemory(TF_OpKernelContext* ctx, DataType dtype, const Shape& shape,
                              Tensor& tensor) {
  TENON_RETURN_IF_ERROR(CheckDeviceIsThere(*ctx));
  if (!IsMemcpyable(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ", DataTypeName(dtype), " tensor cannot be in device memory"));
  }
  TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(dtype, shape));
  TENON_ASSIGN_OR_RETURN(BufferRef buffer, AllocateForCall(*Info(ctx).device, *ctx->args, bytes));
  tensor = Tensor(dtype, shape, std::move(buffer));
  return absl::OkStatus();
}

// Puts TensorFlow's message before the host's own in the error of an allocation that found no
// memory.
absl::Status OutOfMemory(TF_OpKernelContext* ctx, DataType dtype, const Shape& shape, bool on_host,
                         const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return Annotate(
      status,
      absl::StrCat("OOM when allocating tensor with shape", shape.ToString(), " and type ",
                   DataTypeSpecName(dtype), " on ", Info(ctx).node.device_name,
                   on_host || Info(ctx).device == nullptr ? " by allocator cpu" : "", ": "));
}

inline absl::Status TakeHostMemory(TF_OpKernelContext* ctx, DataType dtype, const Shape& shape,
                                   Tensor& tensor) {
  if (!ctx->loans.is_open()) [[unlikely]]  // perhaps because of strict mode
    return BecomeGuarded(tensor, dtype, shape);
  return tensor.Become(dtype, shape);
}

// Allocates in the memory of the kernel's device, or of the host. Variants always lie on the host.
inline absl::Status Allocate(TF_OpKernelContext* ctx, DataType dtype, const Shape& shape,
                             bool on_host, Tensor& tensor) {
  Device* const device = Info(ctx).device;
  absl::Status status = on_host || device == nullptr || dtype == DataType::kVariant
                            ? TakeHostMemory(ctx, dtype, shape, tensor)
                            : TakeDeviceMemory(ctx, dtype, shape, tensor);
  return status.ok() ? status : OutOfMemory(ctx, dtype, shape, on_host, status);
}

// The error for an output that cannot be allocated. Not inline: the checks are on the path of each
// output, the messages are not.
absl::Status NoNewOutput(TF_OpKernelContext* ctx, int index, const char* function) {
  ctx = InCall(ctx, function);  // a call that has ended has no outputs, so it always comes here
  const int num_outputs = ctx->num_outputs();
  if (index < 0 || index >= num_outputs) {
    return absl::InternalError(absl::StrCat(
        "allocate_output with bad index=", index,
        index < 0 ? "" : absl::StrCat(" num_outputs=", num_outputs), " kernel=", Info(ctx).name));
  }
  if (IsRef(Info(ctx).node.types->outputs[index])) {
    return absl::InternalError(absl::StrCat(
        "allocate_output with ref type. index=", index,
        " type=", DataTypeName(Info(ctx).node.types->outputs[index]), " kernel=", Info(ctx).name));
  }
  return absl::InternalError(
      absl::StrFormat("allocate_output on same index multiple times. index = %d "
                      "mutable_output(index) = %p kernel=%s",
                      index, ctx->args->outputs[index]->data(), Info(ctx).name));
}

// Whether output `index` may be allocated. `function` is the function of the C interface that asks.
inline absl::Status CheckNewOutput(TF_OpKernelContext* ctx, int index, const char* function) {
  const bool in_range = ctx != nullptr && index >= 0 && index < ctx->num_outputs();
  return in_range && !IsRef(Info(ctx).types.outputs[index]) && !ctx->output_set(index)
             ? absl::OkStatus()
             : NoNewOutput(ctx, index, function);
}

absl::Status AllocateOutput(TF_OpKernelContext* ctx, int index, const int64_t* dims, int num_dims,
                            TF_Tensor** handle) {
  TENON_RETURN_IF_ERROR(CheckNewOutput(ctx, index, "TF_AllocateOutput"));
  Shape shape;
  if (num_dims != 0) {
    TENON_ASSIGN_OR_RETURN(shape, ShapeFromC(dims, num_dims));
  }
  Tensor& output = *ctx->args->outputs[index];
  TENON_RETURN_IF_ERROR(Allocate(ctx, Info(ctx).types.outputs[index], shape,
                                 Info(ctx).memory.output_on_host[index], output));
  *handle = ctx->loans.Lend(output);
  return absl::OkStatus();
}

// Whether the input's buffer may become the output: nothing else reads it, and it has the output's
// type, size and place. The buffers of a device without streams have shapes of their own.
bool CanForward(TF_OpKernelContext* ctx, int input, int output, const Shape& shape,
                int64_t elements) {
  const Tensor& t = *ctx->args->inputs[input].tensor;
  const KernelInfo& info = Info(ctx);
  if (info.device != nullptr && !info.device->has_streams() && t.shape() != shape) return false;
  return ctx->args->inputs[input].last_use && t.initialized() &&
         !IsRef(info.node.types->inputs[input]) && t.dtype() == info.node.types->outputs[output] &&
         t.num_elements() == elements &&
         info.memory.input_on_host[input] == info.memory.output_on_host[output] &&
         t.buffer()->unique() && !ctx->loans.IsOut(t.buffer().get());
}

absl::StatusOr<TF_Tensor*> ForwardOrAllocate(TF_OpKernelContext* ctx,
                                             absl::Span<const int> candidates, int output,
                                             const int64_t* dims, int num_dims, int* forwarded) {
  TENON_RETURN_IF_ERROR(CheckNewOutput(ctx, output, "TF_ForwardInputOrAllocateOutput"));
  TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeFromC(dims, num_dims));
  // All indices are checked before one is used: a bad one is an error wherever it stands in the
  // list.
  for (const int input : candidates) {
    if (input < 0 || input >= ctx->num_inputs())
      return absl::OutOfRangeError("input index out of range");
  }
  const int64_t elements = shape.num_elements();
  for (const int input : candidates) {
    if (!CanForward(ctx, input, output, shape, elements)) continue;
    if (forwarded != nullptr) *forwarded = input;
    MayBeWritten(*ctx->args->inputs[input].tensor);
    *ctx->args->outputs[output] = ctx->args->inputs[input].tensor->Reshaped(shape);
    return ctx->loans.Lend(*ctx->args->outputs[output]);
  }
  TF_Tensor* handle = nullptr;
  TENON_RETURN_IF_ERROR(AllocateOutput(ctx, output, dims, num_dims, &handle));
  return handle;
}

absl::StatusOr<TF_Tensor*> AllocateTemp(TF_OpKernelContext* ctx, TF_DataType dtype,
                                        const absl::StatusOr<Shape>& shape,
                                        const TF_AllocatorAttributes* attrs) {
  if (attrs != nullptr && attrs->struct_size == 0) {
    return absl::InvalidArgumentError(
        "TF_AllocatorAttributes struct size member must be set to "
        "TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE");
  }
  TENON_RETURN_IF_ERROR(shape.status());
  if (!IsKnownDataType(dtype) || IsRef(DataTypeFromC(dtype)))
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor can have type ", static_cast<int>(dtype)));
  Tensor tensor;
  TENON_RETURN_IF_ERROR(
      Allocate(ctx, DataTypeFromC(dtype), *shape, attrs != nullptr && attrs->on_host != 0, tensor));
  return NewTensorHandle(std::move(tensor));
}

absl::Status SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor) {
  if (i < 0 || i >= ctx->num_outputs()) return absl::OutOfRangeError("output index out of range");
  if (tensor == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("output ", i, " cannot be set to a NULL tensor"));
  const DataType declared = Info(ctx).node.types->outputs[i];
  if (ctx->output_set(i) || IsRef(declared)) {
    return absl::InternalError(
        absl::StrCat("output ", i, " of kernel ", Info(ctx).name,
                     IsRef(declared) ? " is a reference and cannot be set" : " is set already"));
  }
  const DataType type = tensor->dtype;
  if (type != declared) {
    absl::Status mismatch = absl::InternalError(absl::StrCat(
        "Output ", i, " of type ", DataTypeSpecName(type), " does not match declared output type ",
        DataTypeSpecName(declared), " for node {{node ", Info(ctx).name, "}}"));
    ctx->Fail(mismatch);  // also if the plug-in does not look at the status
    return mismatch;
  }
  // The output gets a share: the plug-in still deletes its handle.
  *ctx->args->outputs[i] = tensor->value();
  return absl::OkStatus();
}

// Returns the handle; for an error null, with the error in `status`.
TF_Tensor* HandleToC(const absl::StatusOr<TF_Tensor*>& handle, TF_Status* status) {
  StatusToC(handle.status(), status);
  return handle.ok() ? *handle : nullptr;
}

}  // namespace
}  // namespace tenon

extern "C" {

// Type and size are the node's: TensorFlow ignores the arguments too.
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index, TF_DataType,
                             const int64_t* dims, int num_dims, size_t, TF_Status* status) try {
  TF_Tensor* handle = nullptr;
  tenon::StatusToC(tenon::AllocateOutput(context, index, dims, num_dims, &handle), status);
  return handle;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext* context,
                                           const int* candidate_input_indices,
                                           int num_candidate_input_indices, int output_index,
                                           const int64_t* output_dims, int output_num_dims,
                                           int* forwarded_input, TF_Status* status) try {
  if (forwarded_input != nullptr) *forwarded_input = -1;
  const auto candidates = absl::MakeConstSpan(
      candidate_input_indices,
      candidate_input_indices == nullptr ? 0 : std::max(0, num_candidate_input_indices));
  return tenon::HandleToC(tenon::ForwardOrAllocate(context, candidates, output_index, output_dims,
                                                   output_num_dims, forwarded_input),
                          status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype, const int64_t* dims,
                           int num_dims, TF_AllocatorAttributes* alloc_attrs,
                           TF_Status* status) try {
  context = tenon::InCall(context, __func__);
  return tenon::HandleToC(
      tenon::AllocateTemp(context, dtype, tenon::ShapeFromC(dims, num_dims), alloc_attrs), status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  tenon::StatusToC(tenon::SetOutput(ctx, i, tensor), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  if (i < 0 || i >= ctx->num_outputs()) {
    tenon::StatusToC(absl::OutOfRangeError("output index out of range"), status);
    return nullptr;
  }
  if (!ctx->output_set(i)) {
    tenon::StatusToC(absl::FailedPreconditionError(absl::StrCat("output ", i, " is not allocated")),
                     status);
    return nullptr;
  }
  tenon::ClearStatus(status);
  return ctx->loans.Lend(*ctx->args->outputs[i]);
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
