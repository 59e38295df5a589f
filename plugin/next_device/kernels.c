// TF_InitKernel: the client, and kernels for AddV2, Neg and AssignAddVariableOp of float. They work
// on both kinds of devices: a tensor whose data pointer is odd is a PJRT buffer, others are memory.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "next_device.h"
#include "pjrt.h"
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"

enum { kMostRank = 8 };

static bool IsOk(const TF_Status* status) { return TF_GetCode(status) == TF_OK; }

static bool IsOpaque(const TF_Tensor* tensor) {
  return ((uintptr_t)TF_TensorData(tensor) & 1) != 0;
}

// The elements in new memory, which the caller frees. NULL on an error, and for no elements.
static float* ReadFloats(TF_Tensor* tensor, TF_Status* status) {
  const size_t size = TF_TensorByteSize(tensor);
  if (size == 0) return NULL;
  float* const values = malloc(size);
  if (values == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the values of a tensor");
  } else if (!IsOpaque(tensor)) {
    memcpy(values, TF_TensorData(tensor), size);
  } else {
    PJRT_Buffer* const buffer = TF_GetPjRtCBuffer(tensor, status);
    if (IsOk(status)) ReadBuffer(buffer, values, size, status);
  }
  if (IsOk(status)) return values;
  free(values);
  return NULL;
}

// Gives a tensor its elements: a new PJRT buffer, which the host then owns.
static void WriteFloats(TF_OpKernelContext* context, TF_Tensor* tensor, const float* values,
                        TF_Status* status) {
  const size_t size = TF_TensorByteSize(tensor);
  if (size == 0) return;
  if (!IsOpaque(tensor)) {
    memcpy(TF_TensorData(tensor), values, size);
    return;
  }
  int64_t dims[kMostRank];
  const int rank = TF_NumDims(tensor);
  if (rank > kMostRank) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "this sample has tensors of at most 8 dimensions");
    return;
  }
  for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(tensor, i);
  PJRT_Client* const client = TF_GetPjRtCClient(NEXT_DEVICE_TYPE, status);
  if (!IsOk(status)) return;
  PJRT_Buffer* const buffer =
      MakeFloatBuffer(client, TF_GetDeviceId(context), values, dims, (size_t)rank, status);
  if (IsOk(status)) TF_CreatePjRtBuffer(tensor, buffer, NEXT_DEVICE_TYPE, status);
}

// An output of the shape of `like` with these elements.
static void SetOutputLike(TF_OpKernelContext* context, TF_Tensor* like, const float* values,
                          TF_Status* status) {
  int64_t dims[kMostRank];
  const int rank = TF_NumDims(like);
  for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(like, i);
  TF_Tensor* const output =
      TF_AllocateOutput(context, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(like), status);
  if (IsOk(status)) WriteFloats(context, output, values, status);
  if (output != NULL) TF_DeleteTensor(output);
}

static void AddTensors(TF_OpKernelContext* context, TF_Tensor* x, TF_Tensor* y, TF_Status* status) {
  if (TF_TensorElementCount(x) != TF_TensorElementCount(y) || TF_NumDims(x) != TF_NumDims(y) ||
      TF_NumDims(x) > kMostRank) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "this sample adds tensors of one shape only");
    return;
  }
  float* const a = ReadFloats(x, status);
  float* const b = IsOk(status) ? ReadFloats(y, status) : NULL;
  if (IsOk(status)) {
    for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) a[i] += b[i];
    SetOutputLike(context, x, a, status);
  }
  free(a);
  free(b);
}

static void NegateTensor(TF_OpKernelContext* context, TF_Tensor* x, TF_Status* status) {
  if (TF_NumDims(x) > kMostRank) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "this sample has tensors of at most 8 dimensions");
    return;
  }
  float* const a = ReadFloats(x, status);
  if (IsOk(status)) {
    for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) a[i] = -a[i];
    SetOutputLike(context, x, a, status);
  }
  free(a);
}

static void Finish(TF_OpKernelContext* context, TF_Status* status) {
  if (!IsOk(status)) TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

static void ComputeAdd(void* kernel, TF_OpKernelContext* context) {
  (void)kernel;
  TF_Status* const status = TF_NewStatus();
  TF_Tensor *x = NULL, *y = NULL;
  TF_GetInput(context, 0, &x, status);
  if (IsOk(status)) TF_GetInput(context, 1, &y, status);
  if (IsOk(status)) AddTensors(context, x, y, status);
  if (x != NULL) TF_DeleteTensor(x);
  if (y != NULL) TF_DeleteTensor(y);
  Finish(context, status);
}

static void ComputeNeg(void* kernel, TF_OpKernelContext* context) {
  (void)kernel;
  TF_Status* const status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_GetInput(context, 0, &x, status);
  if (IsOk(status)) NegateTensor(context, x, status);
  if (x != NULL) TF_DeleteTensor(x);
  Finish(context, status);
}

// How often the session has added to variables: an object of the plug-in in the session.
typedef struct AddCount {
  _Atomic int64_t count;
} AddCount;
static void* NewCount(void* unused) {
  (void)unused;
  return calloc(1, sizeof(AddCount));
}
static void DeleteCount(void* count) {
  char text[64];
  snprintf(text, sizeof(text), "%lld additions to variables", (long long)((AddCount*)count)->count);
  Trace(text);
  free(count);
}

// The variable's new value is a new buffer behind a new tensor: readers of the old one keep it.
static void AddToVariable(TF_OpKernelContext* context, TF_VariableInfo* variable, TF_Tensor* delta,
                          TF_Status* status) {
  TF_Tensor* const old = TF_GetTensorFromVariableInfo(variable, status);
  if (IsOk(status) && TF_TensorElementCount(old) != TF_TensorElementCount(delta))
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "the variable has another number of elements");
  float* const a = IsOk(status) ? ReadFloats(old, status) : NULL;
  float* const b = IsOk(status) ? ReadFloats(delta, status) : NULL;
  if (IsOk(status)) {
    for (int64_t i = 0; i < TF_TensorElementCount(old); ++i) a[i] += b[i];
    TF_AllocateTempForVariableInfo(context, variable, status);
  }
  TF_Tensor* const made = IsOk(status) ? TF_GetTensorFromVariableInfo(variable, status) : NULL;
  if (made != NULL) WriteFloats(context, made, a, status);
  if (made != NULL) TF_DeleteTensor(made);
  if (old != NULL) TF_DeleteTensor(old);
  free(a);
  free(b);
}

static void ComputeAssignAdd(void* kernel, TF_OpKernelContext* context) {
  (void)kernel;
  TF_Status* const status = TF_NewStatus();
  void* count = NULL;
  TF_LookupOrCreatePluginResource(context, "", "additions", &count, NewCount, NULL, DeleteCount,
                                  status);
  TF_Tensor* delta = NULL;
  if (IsOk(status)) TF_GetInput(context, 1, &delta, status);
  TF_VariableInfo* variable =
      IsOk(status) ? TF_CreateVariableInfoFromContext(context, 0, status) : NULL;
  if (IsOk(status)) TF_LockVariableInfos(&variable, 1, status);
  if (IsOk(status)) AddToVariable(context, variable, delta, status);
  if (IsOk(status)) ++((AddCount*)count)->count;
  TF_DeleteVariableInfo(variable);
  if (delta != NULL) TF_DeleteTensor(delta);
  Finish(context, status);
}

static void Report(const char* what, const TF_Status* status) {
  if (!IsOk(status)) fprintf(stderr, "next_device: %s: %s\n", what, TF_Message(status));
}

static void RegisterKernel(const char* op, const char* type_attr,
                           void (*compute)(void*, TF_OpKernelContext*)) {
  TF_Status* const status = TF_NewStatus();
  TF_KernelBuilder* const builder = TF_NewKernelBuilder(op, NEXT_DEVICE_TYPE, NULL, compute, NULL);
  TF_KernelBuilder_TypeConstraint(builder, type_attr, TF_FLOAT, status);
  if (IsOk(status)) {
    TF_RegisterKernelBuilder(op, builder, status);
  } else {
    TF_DeleteKernelBuilder(builder);
  }
  Report(op, status);
  TF_DeleteStatus(status);
}

// The client is there before any session.
static void MakeClient(void) {
  TF_Status* const status = TF_NewStatus();
  CountOption count = DeviceCountOption(DeviceCount());
  TF_CreateAndSetPjRtCApiClient(NEXT_DEVICE_TYPE, status, (PJRT_NamedValue*)&count, 1);
  Report("TF_CreateAndSetPjRtCApiClient", status);
  TF_DeleteStatus(status);
}

NEXT_DEVICE_ENTRY_POINT void TF_InitKernel(void) {
  Trace("TF_InitKernel");
  if (UsesNextDevice()) MakeClient();
  RegisterKernel("AddV2", "T", ComputeAdd);
  RegisterKernel("Neg", "T", ComputeNeg);
  RegisterKernel("AssignAddVariableOp", "dtype", ComputeAssignAdd);
}
