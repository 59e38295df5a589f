// The functions of eager/dlpack.h as TensorFlow's libraries have them: in a namespace. libtenon has
// them so too, but in a version of its own.
#include "tensorflow/c/tf_status.h"

#pragma GCC visibility push(default)

typedef struct TFE_Context TFE_Context;
typedef struct TFE_TensorHandle TFE_TensorHandle;

extern "C" {
void* TFE_GetDLDevice(TFE_TensorHandle* handle, TF_Status* status);
void* TFE_HandleToDLPack(TFE_TensorHandle* handle, TF_Status* status);
TFE_TensorHandle* TFE_HandleFromDLPack(void* managed, TF_Status* status, TFE_Context* context);
void TFE_CallDLManagedTensorDeleter(void* managed);
}

namespace tensorflow {

void* TFE_GetDLDevice(TFE_TensorHandle* handle, TF_Status* status) {
  return ::TFE_GetDLDevice(handle, status);
}
void* TFE_HandleToDLPack(TFE_TensorHandle* handle, TF_Status* status) {
  return ::TFE_HandleToDLPack(handle, status);
}
TFE_TensorHandle* TFE_HandleFromDLPack(void* managed, TF_Status* status, TFE_Context* context) {
  return ::TFE_HandleFromDLPack(managed, status, context);
}
void TFE_CallDLManagedTensorDeleter(void* managed) { ::TFE_CallDLManagedTensorDeleter(managed); }

}  // namespace tensorflow

#pragma GCC visibility pop
