// The functions of eager/dlpack.h: tensors of other libraries, and tensors for them, in place.
#include <algorithm>
#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "executor/api/eager/c_api/report.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/tensor_handle.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/dlpack.h"

namespace tenon::eager {
namespace {

// The structs of DLPack, whose layout is fixed.
struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

constexpr int32_t kDLCpu = 1, kDLExtensionDevice = 12;
enum : uint8_t { kDLInt, kDLUInt, kDLFloat, kDLHandle, kDLBfloat, kDLComplex, kDLBool };

struct TypeRow {
  DataType type;
  uint8_t code, bits;
};
constexpr TypeRow kTypes[] = {
    {DataType::kFloat, kDLFloat, 32},
    {DataType::kDouble, kDLFloat, 64},
    {DataType::kHalf, kDLFloat, 16},
    {DataType::kBfloat16, kDLBfloat, 16},
    {DataType::kInt8, kDLInt, 8},
    {DataType::kInt16, kDLInt, 16},
    {DataType::kInt32, kDLInt, 32},
    {DataType::kInt64, kDLInt, 64},
    {DataType::kUint8, kDLUInt, 8},
    {DataType::kUint16, kDLUInt, 16},
    {DataType::kUint32, kDLUInt, 32},
    {DataType::kUint64, kDLUInt, 64},
    {DataType::kBool, kDLBool, 8},
    {DataType::kComplex64, kDLComplex, 64},
    {DataType::kComplex128, kDLComplex, 128},
};

absl::StatusOr<DLDataType> ToDLType(DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return DLDataType{row.code, row.bits, 1};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(DataTypeName(type), " is not supported by dlpack"));
}

// With TensorFlow's words.
absl::StatusOr<DataType> FromDLType(DLDataType dtype) {
  constexpr std::string_view kNames[] = {"Int", "UInt", "Float", "", "BFloat", "Complex", "Bool"};
  if (dtype.code > kDLBool || dtype.code == kDLHandle)
    return absl::InvalidArgumentError(
        absl::StrCat("Unsupported Type Codes: ", static_cast<int>(dtype.code)));
  if (dtype.lanes != 1)
    return absl::InvalidArgumentError(absl::StrCat("Unsupported lanes: ", dtype.lanes));
  for (const TypeRow& row : kTypes) {
    if (row.code == dtype.code && row.bits == dtype.bits) return row.type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("Unsupported ", kNames[dtype.code], " bits: ", static_cast<int>(dtype.bits)));
}

DLDevice DeviceOf(const TFE_TensorHandle& handle) {
  if (handle.memory == nullptr) return {kDLCpu, 0};
  return {kDLExtensionDevice, handle.memory->ordinal()};
}

// A tensor that is lent, with the room for its shape and strides. Once it is deleted, it waits in
// the pool, and `managed` is one without data that tells of a second deletion.
struct Lent {
  DLManagedTensor managed;
  Tensor value;
  absl::InlinedVector<int64_t, 6> shape, strides;
  Lent* next_idle = nullptr;  // of SharedHandlePool
};

void DeleteLent(DLManagedTensor* self) {
  Lent* const lent = static_cast<Lent*>(self->manager_ctx);
  lent->value.Clear();
  lent->managed = {};
  lent->managed.deleter = [](DLManagedTensor*) { TellOfDeleted("TFE_CallDLManagedTensorDeleter"); };
  SharedHandlePool<Lent>::Give(lent);
}

// Waits for the value, which must be in memory of the host or of a plug-in's device.
absl::Status AwaitMemory(TFE_TensorHandle* handle) {
  TENON_RETURN_IF_ERROR(CheckHandle(handle));
  TENON_RETURN_IF_ERROR(handle->Await());
  if (handle->custom == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError("a tensor of a custom device has no address");
}

absl::StatusOr<DLManagedTensor*> Lend(TFE_TensorHandle* handle) {
  TENON_RETURN_IF_ERROR(AwaitMemory(handle));
  TENON_ASSIGN_OR_RETURN(const DLDataType dtype, ToDLType(handle->dtype));
  Lent* const lent = SharedHandlePool<Lent>::Take();
  lent->value = handle->tensor;
  const Shape& shape = lent->value.shape();
  lent->shape.assign(shape.dims().begin(), shape.dims().end());
  lent->strides.assign(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i)
    lent->strides[i] = lent->strides[i + 1] * shape.dim(i + 1);
  DLTensor& tensor = lent->managed.dl_tensor;
  tensor = {lent->value.data(), DeviceOf(*handle), shape.rank(), dtype, nullptr, nullptr, 0};
  if (shape.rank() > 0) {
    tensor.shape = lent->shape.data();
    tensor.strides = lent->strides.data();
  }
  lent->managed.manager_ctx = lent;
  lent->managed.deleter = DeleteLent;
  return &lent->managed;
}

absl::Status CheckLayout(const DLTensor& tensor) {
  if (tensor.byte_offset != 0) {
    return absl::InvalidArgumentError(absl::StrCat("Unsupported byte_offset (", tensor.byte_offset,
                                                   ") from DLPack, must be zero"));
  }
  const bool empty = std::count(tensor.shape, tensor.shape + tensor.ndim, 0) > 0;
  if (tensor.strides == nullptr || empty) return absl::OkStatus();
  int64_t stride = 1;
  for (int i = tensor.ndim - 1; i >= 0; stride *= tensor.shape[i], --i) {
    // The stride of a single row is never used.
    if (tensor.shape[i] > 1 && tensor.strides[i] != stride)
      return absl::InvalidArgumentError("Invalid strides array from DLPack");
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Borrow(DLManagedTensor& managed) {
  const DLTensor& tensor = managed.dl_tensor;
  if (tensor.device.device_type != kDLCpu)
    return absl::InvalidArgumentError("Unsupported Device Type");
  TENON_ASSIGN_OR_RETURN(const DataType dtype, FromDLType(tensor.dtype));
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
    return absl::InvalidArgumentError("Invalid shape array from DLPack");
  TENON_ASSIGN_OR_RETURN(Shape shape, Shape::Make(absl::MakeConstSpan(tensor.shape, tensor.ndim)));
  TENON_RETURN_IF_ERROR(CheckLayout(tensor));
  TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(dtype, shape));
  if (tensor.data == nullptr && bytes > 0)
    return absl::InvalidArgumentError("Invalid data pointer from DLPack");
  Buffer* const buffer = Buffer::Wrap(
      tensor.data, bytes, [](void*, size_t, void* arg) { TFE_CallDLManagedTensorDeleter(arg); },
      &managed);
  return Tensor(dtype, std::move(shape), BufferRef::Adopt(buffer));
}

absl::StatusOr<TFE_TensorHandle*> HandleOf(void* managed, TFE_Context* shell) {
  TENON_RETURN_IF_ERROR(ContextOf(shell).status());
  if (managed == nullptr) return absl::InvalidArgumentError("Invalid DLManagedTensor");
  TENON_ASSIGN_OR_RETURN(Tensor value, Borrow(*static_cast<DLManagedTensor*>(managed)));
  return TFE_TensorHandle::New(std::move(value), nullptr, nullptr);
}

}  // namespace
}  // namespace tenon::eager

using tenon::StatusToC;

extern "C" {

void* TFE_GetDLDevice(TFE_TensorHandle* h, TF_Status* status) try {
  const absl::Status ready = tenon::eager::AwaitMemory(h);
  StatusToC(ready, status);
  return ready.ok() ? new tenon::eager::DLDevice(tenon::eager::DeviceOf(*h)) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void* TFE_HandleToDLPack(TFE_TensorHandle* h, TF_Status* status) try {
  const auto lent = tenon::eager::Lend(h);
  StatusToC(lent.status(), status);
  return lent.ok() ? *lent : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_HandleFromDLPack(void* dlm, TF_Status* status, TFE_Context* ctx) try {
  return tenon::eager::Report(tenon::eager::HandleOf(dlm, ctx), nullptr, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_CallDLManagedTensorDeleter(void* dlm_ptr) {
  auto* const managed = static_cast<tenon::eager::DLManagedTensor*>(dlm_ptr);
  if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
}

}  // extern "C"

// TensorFlow's own names of the four, for programs that were built for it.
namespace tensorflow {

void* TFE_GetDLDevice(TFE_TensorHandle* h, TF_Status* status) try {
  return ::TFE_GetDLDevice(h, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}
void* TFE_HandleToDLPack(TFE_TensorHandle* h, TF_Status* status) try {
  return ::TFE_HandleToDLPack(h, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}
TFE_TensorHandle* TFE_HandleFromDLPack(void* dlm, TF_Status* status, TFE_Context* ctx) try {
  return ::TFE_HandleFromDLPack(dlm, status, ctx);
} catch (...) {
  return tenon::WithoutMemory(status);
}
void TFE_CallDLManagedTensorDeleter(void* dlm_ptr) { ::TFE_CallDLManagedTensorDeleter(dlm_ptr); }

}  // namespace tensorflow
