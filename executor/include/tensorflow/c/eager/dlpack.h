// Hands tensors to other libraries, and takes theirs, without a copy, by the structs of DLPack
// (version 0: DLManagedTensor). The rules of eager/c_api.h hold here too.
//
// Types: floats of 16 to 64 bits, bfloat16, integers of 8 to 64 bits, bool, and complex numbers of
// 64 and 128 bits. Others are TF_INVALID_ARGUMENT.
#ifndef TENSORFLOW_C_EAGER_DLPACK_H_
#define TENSORFLOW_C_EAGER_DLPACK_H_

#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
// TensorFlow declares these as C++ functions of a namespace.
namespace tensorflow {
// The name of a Python capsule that holds a DLManagedTensor.
inline constexpr const char* kDlTensorCapsuleName = "dltensor";
#endif

// A new DLDevice: the device with the tensor. The caller frees it with `delete` (C++) or `free`.
TF_CAPI_EXPORT extern void* TFE_GetDLDevice(TFE_TensorHandle* h, TF_Status* status);

// A new DLManagedTensor on the memory of the handle, for which it waits. The memory lives until the
// receiver calls the struct's deleter. Nobody may write to it.
TF_CAPI_EXPORT extern void* TFE_HandleToDLPack(TFE_TensorHandle* h, TF_Status* status);

// A handle on the memory of a DLManagedTensor, whose deleter is called when nobody uses the memory
// any more. After an error the DLManagedTensor stays the caller's. Only tensors in host memory, in
// C order: TF_INVALID_ARGUMENT for others.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_HandleFromDLPack(void* dlm, TF_Status* status,
                                                             TFE_Context* ctx);

// Calls the deleter of a DLManagedTensor.
TF_CAPI_EXPORT extern void TFE_CallDLManagedTensorDeleter(void* dlm_ptr);

#ifdef __cplusplus
}  // namespace tensorflow

extern "C" {
// The same functions, without the namespace.
TF_CAPI_EXPORT extern void* TFE_GetDLDevice(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern void* TFE_HandleToDLPack(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_HandleFromDLPack(void* dlm, TF_Status* status,
                                                             TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_CallDLManagedTensorDeleter(void* dlm_ptr);
}
#endif

#endif  // TENSORFLOW_C_EAGER_DLPACK_H_
