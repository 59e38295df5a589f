// The functions of TensorFlow's eager C API that a published plug-in (DirectML's) links to. This
// host has no eager execution: no context can be made, so that the others have nothing to work on.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC visibility push(default)

typedef struct TFE_Context TFE_Context;
typedef struct TFE_ContextOptions TFE_ContextOptions;
typedef struct TFE_Op TFE_Op;
typedef struct TFE_TensorHandle TFE_TensorHandle;
typedef struct TF_Tensor TF_Tensor;

static void* Refuse(const char* function, TF_Status* status) {
  char message[80];
  snprintf(message, sizeof(message), "%s: this host has no eager execution", function);
  TF_SetStatus(status, TF_UNIMPLEMENTED, message);
  return NULL;
}

TFE_ContextOptions* TFE_NewContextOptions(void) { return NULL; }
void TFE_DeleteContextOptions(TFE_ContextOptions* options) {}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* options, TF_Status* status) {
  return Refuse(__func__, status);
}
void TFE_DeleteContext(TFE_Context* context) {}

TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* tensor, TF_Status* status) {
  return Refuse(__func__, status);
}
void TFE_DeleteTensorHandle(TFE_TensorHandle* handle) {}
TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* handle, TF_Status* status) {
  return Refuse(__func__, status);
}

TFE_Op* TFE_NewOp(TFE_Context* context, const char* name, TF_Status* status) {
  return Refuse(__func__, status);
}
void TFE_DeleteOp(TFE_Op* op) {}
void TFE_OpSetDevice(TFE_Op* op, const char* device, TF_Status* status) {
  Refuse(__func__, status);
}
void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) {
  Refuse(__func__, status);
}
void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int count, TF_Status* status) {
  Refuse(__func__, status);
}
void TFE_OpSetAttrType(TFE_Op* op, const char* name, TF_DataType type) {}
void TFE_OpSetAttrInt(TFE_Op* op, const char* name, int64_t value) {}
void TFE_Execute(TFE_Op* op, TFE_TensorHandle** results, int* num_results, TF_Status* status) {
  *num_results = 0;
  Refuse(__func__, status);
}

#pragma GCC visibility pop
