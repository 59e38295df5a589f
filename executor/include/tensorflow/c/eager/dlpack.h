// Hands tensors to other libraries, and takes theirs, without a copy, by the structs of DLPack
// (version 0: DLManagedTensor). The rules of eager/c_api.h hold here too.
//
// Types: floats of 16 to 64 bits, bfloat16, signed and unsigned integers of 8 to 64 bits, bool, and
// complex numbers of 64 and 128 bits. TF_INVALID_ARGUMENT for other types; TFE_GetDLDevice takes
// all.
#ifndef TENSORFLOW_C_EAGER_DLPACK_H_
#define TENSORFLOW_C_EAGER_DLPACK_H_

#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
// TensorFlow declares these as C++ functions of a namespace.
namespace tensorflow {
// The name of a Python capsule that holds a DLManagedTensor.
inline constexpr const char* kDlTensorCapsuleName = "dltensor";
#endif

// A new DLDevice: the device in whose memory the tensor is; kDLExtDev for the device of a plug-in.
// Waits for the value. The caller frees the DLDevice with `delete` (C++) or `free`.
// TF_INVALID_ARGUMENT for a tensor on a custom device.
TF_CAPI_EXPORT extern void* TFE_GetDLDevice(TFE_TensorHandle* h, TF_Status* status);

// A new DLManagedTensor on the memory of the handle. Waits for the value. The receiver calls the
// struct's deleter, which frees the struct; the memory lives at least until then. Nobody may write
// to the memory. TF_INVALID_ARGUMENT for a tensor on a custom device.
TF_CAPI_EXPORT extern void* TFE_HandleToDLPack(TFE_TensorHandle* h, TF_Status* status);

// A handle on the memory of the DLManagedTensor `dlm`. The handle takes `dlm` over: its deleter is
// called when nobody uses the memory any more. After an error `dlm` stays the caller's.
// TF_INVALID_ARGUMENT unless the tensor is in host memory, in C order, with a byte_offset of 0.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_HandleFromDLPack(void* dlm, TF_Status* status,
                                                             TFE_Context* ctx);

// Calls the deleter of a DLManagedTensor. Does nothing if `dlm_ptr` or the deleter is NULL.
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
