// The functions of eager/c_api_experimental.h on the memory of tensors, and on host tensors.
#include "absl/strings/str_cat.h"
#include "executor/api/eager/c_api/report.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/tensor_handle.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

using Deallocator = void (*)(void* data, size_t len, void* arg);

// Memory that a program has given away, until it is deallocated.
struct GivenMemory {
  Deallocator deallocator;
  void* arg;
};

void Deallocate(void* data, size_t bytes, void* arg) {
  const std::unique_ptr<GivenMemory> memory(static_cast<GivenMemory*>(arg));
  if (memory->deallocator != nullptr) memory->deallocator(data, bytes, memory->arg);
}

absl::StatusOr<Shape> ShapeOfDims(const int64_t* dims, int num_dims) {
  if (num_dims < 0 || (dims == nullptr && num_dims > 0))
    return absl::InvalidArgumentError("Invalid dimensions");
  return Shape::Make(absl::MakeConstSpan(dims, num_dims));
}

absl::Status CheckPlain(TF_DataType dtype) {
  if (IsKnownDataType(dtype) && !IsRef(DataTypeFromC(dtype)) && IsMemcpyable(DataTypeFromC(dtype)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no plain memory holds elements of type ", DataTypeName(DataTypeFromC(dtype))));
}

// A tensor of plain elements for the caller to fill.
absl::StatusOr<Tensor> NewTensor(TFE_Context* shell, TF_DataType dtype, const int64_t* dims,
                                 int num_dims) {
  TENON_RETURN_IF_ERROR(ContextOf(shell).status());
  if (!IsKnownDataType(dtype) || IsRef(DataTypeFromC(dtype)))
    return absl::InvalidArgumentError(absl::StrCat("there is no data type ", dtype));
  TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeOfDims(dims, num_dims));
  return Tensor::Allocate(DataTypeFromC(dtype), shape);
}

struct Plain {
  TF_DataType dtype;
  const int64_t* dims;
  int num_dims;
  void* data;
  size_t length;
};

absl::StatusOr<TFE_TensorHandle*> HandleOnMemory(TFE_Context* shell, const char* device_name,
                                                 const Plain& plain, BufferRef buffer) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  TENON_ASSIGN_OR_RETURN(Device* const device, context->DeviceOfName(device_name));
  TENON_RETURN_IF_ERROR(CheckPlain(plain.dtype));
  TENON_ASSIGN_OR_RETURN(Shape shape, ShapeOfDims(plain.dims, plain.num_dims));
  const DataType dtype = DataTypeFromC(plain.dtype);
  TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(dtype, shape));
  if (bytes > plain.length || (plain.data == nullptr && bytes > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(plain.length, " bytes are no tensor of ", bytes, " bytes"));
  }
  return TFE_TensorHandle::New(Tensor(dtype, std::move(shape), std::move(buffer)), device, device);
}

absl::Status ReadyAndPlain(TFE_TensorHandle* handle) {
  TENON_RETURN_IF_ERROR(CheckHandle(handle));
  TENON_RETURN_IF_ERROR(handle->Await());
  if (handle->custom != nullptr)
    return absl::InvalidArgumentError("a tensor of a custom device has no size in bytes");
  return CheckPlain(DataTypeToC(handle->dtype));
}

}  // namespace
}  // namespace tenon::eager

using tenon::StatusToC;
using tenon::eager::ReadyAndPlain;

extern "C" {

void* TFE_TensorHandleDevicePointer(TFE_TensorHandle* h, TF_Status* status) try {
  if (tenon::eager::CheckHandle(h).ok() && h->custom != nullptr) {
    tenon::ClearStatus(status);
    return h->custom->data();
  }
  const absl::Status ready = ReadyAndPlain(h);
  StatusToC(ready, status);
  return ready.ok() ? h->tensor.data() : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle* h, TF_Status* status) try {
  const absl::Status ready = ReadyAndPlain(h);
  StatusToC(ready, status);
  return ready.ok() ? h->tensor.bytes() : 0;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_NewTensorHandleFromDeviceMemory(
    TFE_Context* ctx, const char* device_name, TF_DataType dtype, const int64_t* dims, int num_dims,
    void* data, size_t len, void (*deallocator)(void* data, size_t len, void* arg),
    void* deallocator_arg, TF_Status* status) try {
  // The buffer owns the memory from here on: it is deallocated after an error, too.
  auto buffer = tenon::BufferRef::Adopt(
      tenon::Buffer::Wrap(data, len, tenon::eager::Deallocate,
                          new tenon::eager::GivenMemory{deallocator, deallocator_arg}));
  return tenon::eager::Report(
      tenon::eager::HandleOnMemory(ctx, device_name, {dtype, dims, num_dims, data, len},
                                   std::move(buffer)),
      nullptr, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Tensor* TFE_AllocateHostTensor(TFE_Context* ctx, TF_DataType dtype, const int64_t* dims,
                                  int num_dims, TF_Status* status) try {
  absl::StatusOr<tenon::Tensor> tensor = tenon::eager::NewTensor(ctx, dtype, dims, num_dims);
  StatusToC(tensor.status(), status);
  return tensor.ok() ? tenon::NewTensorHandle(*std::move(tensor)) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_NewTensorHandleFromTensor(TFE_Context* ctx, TF_Tensor* t,
                                                TF_Status* status) try {
  StatusToC(tenon::eager::ContextOf(ctx).status(), status);
  return tenon::eager::ContextOf(ctx).ok() ? TFE_NewTensorHandle(t, status) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
