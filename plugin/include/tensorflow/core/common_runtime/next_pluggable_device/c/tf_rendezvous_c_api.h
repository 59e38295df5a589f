// The exchange of tensors between devices within one run, as TF_GetRendezvous (kernels.h) hands it
// to a kernel. Functions are callable from any thread while the kernel's context is valid. The
// structs of a call belong to the caller and must live until the call returns.
//
// This host exchanges nothing: send sets TF_UNIMPLEMENTED, receive calls on_done at once, on the
// calling thread, with that error, and abort does nothing. The rest of the comments say what
// TensorFlow does.
#ifndef TENSORFLOW_CORE_COMMON_RUNTIME_NEXT_PLUGGABLE_DEVICE_C_TF_RENDEZVOUS_C_API_H_
#define TENSORFLOW_CORE_COMMON_RUNTIME_NEXT_PLUGGABLE_DEVICE_C_TF_RENDEZVOUS_C_API_H_

#include <stdbool.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_DeviceContext TF_DeviceContext;
typedef struct TFE_CancellationManager TFE_CancellationManager;

typedef struct TFDevice_AllocatorAttributes {
  uint32_t value;  // bit 0: host memory, 1: for a network card, 2: host memory for a GPU, 3: PJRT's
  int32_t scope_id;
} TFDevice_AllocatorAttributes;

typedef struct TF_RendezvousArgsStruct {
  TF_DeviceContext* device_context;
  TFDevice_AllocatorAttributes alloc_attrs;
  TFE_CancellationManager* cancellation_manager;
} TF_RendezvousArgsStruct;

typedef struct TF_RendezvousParsedKey {
  char* full_key;  // TensorFlow's text form, "source;incarnation;target;name;frame:iteration"
  uint32_t full_key_size;  // bytes
} TF_RendezvousParsedKey;

typedef struct TF_RendezvousSend_Params {
  const TF_RendezvousParsedKey* key;
  const TF_RendezvousArgsStruct* args;
  TF_Tensor* tensor;  // the caller keeps its handle
  bool is_dead;       // the tensor is of a branch that was not taken, and has no value
  TF_Status* status;  // given by the caller; set by the call
} TF_RendezvousSend_Params;

typedef void (*TF_RendezvousSend_Function)(void*, TF_RendezvousSend_Params*);

// Members are valid for the duration of the callback. On an error only `status` counts.
typedef struct TF_RendezvousDoneCallback_Params {
  void* context;  // of TF_RendezvousDoneCallbackImpl
  const TF_Status* status;
  const TF_Tensor* tensor;
  bool is_dead;
} TF_RendezvousDoneCallback_Params;

// The first argument is `context` of TF_RendezvousDoneCallbackImpl.
typedef void (*TF_RendezvousDoneCallback_Function)(void*, TF_RendezvousDoneCallback_Params*);

typedef struct TF_RendezvousDoneCallbackImpl {
  void* context;
  TF_RendezvousDoneCallback_Function callback;
} TF_RendezvousDoneCallbackImpl;

typedef struct TF_RendezvousAsyncRecv_Params {
  void* context;  // not read by this host
  const TF_RendezvousParsedKey* key;
  const TF_RendezvousArgsStruct* args;
  TF_RendezvousDoneCallbackImpl on_done;  // called once, on any thread, perhaps within the call
} TF_RendezvousAsyncRecv_Params;

typedef void (*TF_RendezvousAsyncRecv_Function)(void*, TF_RendezvousAsyncRecv_Params*);

// Ends all receives that wait, and all later calls, with the given error.
typedef void (*TF_RendezvousStartAbort_Function)(void* context, const TF_Status*);

// `rendezvous` is to be the first argument of the three functions.
typedef struct TF_RendezvousThunk {
  void* rendezvous;
  TF_RendezvousSend_Function send_func;
  TF_RendezvousAsyncRecv_Function async_recv_func;
  TF_RendezvousStartAbort_Function start_abort_func;
} TF_RendezvousThunk;

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_CORE_COMMON_RUNTIME_NEXT_PLUGGABLE_DEVICE_C_TF_RENDEZVOUS_C_API_H_
