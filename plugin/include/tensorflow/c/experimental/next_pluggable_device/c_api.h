// Further functions for kernels: resources and locked variables for kernels of any device; the
// key-value store of a distributed run, and the link between tensors and PJRT buffers, for devices
// that bring a PJRT client.
//
// Functions with a TF_OpKernelContext are for the context's lifetime (kernels.h). This host has no
// distributed runs: functions of that part report TF_UNIMPLEMENTED, after the checks of arguments
// that they mention, and return NULL. The comments there say what they do in TensorFlow. An error
// is set in `status` only; the execution does not fail.
#ifndef TENSORFLOW_C_EXPERIMENTAL_NEXT_PLUGGABLE_DEVICE_C_API_H_
#define TENSORFLOW_C_EXPERIMENTAL_NEXT_PLUGGABLE_DEVICE_C_API_H_

#include <stdbool.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_status.h"
#include "xla/pjrt/c/pjrt_c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Device TF_Device;
typedef struct TF_VariableInfo TF_VariableInfo;

// The device on which the kernel runs, owned by the host; NULL on the CPU. No function takes it.
TF_CAPI_EXPORT extern TF_Device* TF_GetDevice(TF_OpKernelContext* ctx);

// --- Objects of the plug-in ---
//
// The session keeps them by container and name. A NULL or empty container means "localhost", a NULL
// name the empty one.

// Hands `plugin_resource` over to the session, which calls delete_func with it once: when the
// session ends, on any thread, or in this call on an error. delete_func may be NULL.
// TF_ALREADY_EXISTS if the name is taken, TF_FAILED_PRECONDITION if the session no longer waits for
// the kernel.
TF_CAPI_EXPORT extern void TF_CreatePluginResource(TF_OpKernelContext* ctx,
                                                   const char* container_name,
                                                   const char* plugin_resource_name,
                                                   void* plugin_resource,
                                                   void (*delete_func)(void*), TF_Status* status);

// Sets *result_plugin_resource to the object of this name; to NULL on an error. If there is no such
// object, the call makes one by create_func(create_func_args); the session then owns the object and
// frees it by delete_func as above. Else neither function is used. Two threads may call create_func
// for one name at once: one object stays, and the other is freed. The caller frees nothing.
// TF_INVALID_ARGUMENT if create_func is NULL and there is no object, TF_FAILED_PRECONDITION as
// above.
TF_CAPI_EXPORT extern void TF_LookupOrCreatePluginResource(
    TF_OpKernelContext* ctx, const char* container_name, const char* plugin_resource_name,
    void** result_plugin_resource, void* (*create_func)(void*), void* create_func_args,
    void (*delete_func)(void*), TF_Status* status);

// --- Variables ---
//
// A function that uses a variable's value waits for other kernels that hold the variable's lock,
// for a minute at most: TF_DEADLINE_EXCEEDED.

// A new object for the variable behind resource input `index`, without a lock. Release it with
// TF_DeleteVariableInfo, before the execution ends. NULL and TF_OUT_OF_RANGE if there is no such
// input, TF_INVALID_ARGUMENT if the input is no variable.
TF_CAPI_EXPORT extern TF_VariableInfo* TF_CreateVariableInfoFromContext(TF_OpKernelContext* ctx,
                                                                        int index,
                                                                        TF_Status* status);

// Locks the variables exclusively, in an order that all kernels share, so that kernels cannot wait
// for each other. A lock ends when the TF_VariableInfo is deleted, else with the execution. A
// variable that this execution has locked already keeps that lock, exclusive or not, until the
// earlier holder is released and this TF_VariableInfo is deleted. Does nothing if `num_vars` is 0
// or less. TF_INVALID_ARGUMENT, and no lock, if `vars` or an element is NULL. TF_DEADLINE_EXCEEDED
// if another kernel holds a variable for a minute; those before it in that order are locked then.
TF_CAPI_EXPORT extern void TF_LockVariableInfos(TF_VariableInfo** vars, int num_vars,
                                                TF_Status* status);

// Gives the variable new memory of its type and shape, with undefined contents. Handles on the
// former memory keep it. TF_FAILED_PRECONDITION if the variable has no value yet,
// TF_INVALID_ARGUMENT for NULL.
TF_CAPI_EXPORT extern void TF_AllocateTempForVariableInfo(TF_OpKernelContext* ctx,
                                                          TF_VariableInfo* var_info,
                                                          TF_Status* status);

// A new handle on the variable's value, which the caller deletes; it shares the variable's buffer.
// NULL on an error: TF_NOT_FOUND if the variable has no value yet, TF_INVALID_ARGUMENT for NULL.
TF_CAPI_EXPORT extern TF_Tensor* TF_GetTensorFromVariableInfo(TF_VariableInfo* var_info,
                                                              TF_Status* status);

// Releases the lock, if there is one, and the object. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteVariableInfo(TF_VariableInfo* var_info);

// --- Key-value store of a distributed run ---
//
// Sizes are in bytes, without a NUL. A returned buffer is new, and the caller deletes it.

// The agent of the run, owned by the host. This host returns NULL.
TF_CAPI_EXPORT extern TF_CoordinationServiceAgent* TF_GetCoordinationServiceAgent(
    TF_OpKernelContext* ctx);

// False for NULL, and always in this host.
TF_CAPI_EXPORT extern bool TF_CoordinationServiceIsInitialized(TF_CoordinationServiceAgent* agent);

TF_CAPI_EXPORT extern void TF_CoordinationServiceInsertKeyValue(const char* key, int64_t key_size,
                                                                const char* value,
                                                                int64_t value_size,
                                                                TF_CoordinationServiceAgent* agent,
                                                                TF_Status* status);

// The value of the key, for which it waits without a limit; NULL on an error.
TF_CAPI_EXPORT extern TF_Buffer* TF_CoordinationServiceGetKeyValue(
    const char* key, int64_t key_size, TF_CoordinationServiceAgent* agent, TF_Status* status);

// The same, but waits for at most `timeout_seconds`: TF_DEADLINE_EXCEEDED then.
// TF_INVALID_ARGUMENT, in this host too, if `timeout_seconds` is not positive.
TF_CAPI_EXPORT extern TF_Buffer* TF_CoordinationServiceGetKeyValueWithTimeout(
    const char* key, int64_t key_size, int64_t timeout_seconds, TF_CoordinationServiceAgent* agent,
    TF_Status* status);

// The same without waiting: TF_NOT_FOUND if the key has no value.
TF_CAPI_EXPORT extern TF_Buffer* TF_CoordinationServiceTryGetKeyValue(
    const char* key, int64_t key_size, TF_CoordinationServiceAgent* agent, TF_Status* status);

TF_CAPI_EXPORT extern void TF_CoordinationServiceDeleteKeyValue(const char* key, int64_t key_size,
                                                                TF_CoordinationServiceAgent* agent,
                                                                TF_Status* status);

// --- PJRT ---
//
// A device type is one for which a plug-in has exported TFNPD_InitPlugin and GetPjrtApi. Of several
// plug-ins with one type, that of the calling one counts. The functions work wherever the plug-in's
// code runs, also in TF_InitKernel. Clients and returned buffers stay owned by the host.

// Makes the client of the device type, by the `num_options` options. Ends a former client first:
// the type has no client after an error of PJRT_Client_Create. The status is the second argument
// here. TF_NOT_FOUND for a type that nobody has brought; TF_INVALID_ARGUMENT for options that
// cannot be read; TF_FAILED_PRECONDITION if there is a client of which buffers or programs are in
// use; else the error of PJRT_Client_Create.
TF_CAPI_EXPORT extern void TF_CreateAndSetPjRtCApiClient(const char* device_type, TF_Status* status,
                                                         PJRT_NamedValue* create_options,
                                                         int num_options);

// Drops the client of the device type: TF_GetPjRtCClient then reports an error. The client ends
// with its last buffer or program. TF_NOT_FOUND if there is none.
TF_CAPI_EXPORT extern void TF_ResetPjRtCClient(const char* device_type, TF_Status* status);

// The client of the device type; NULL and TF_NOT_FOUND if there is none.
TF_CAPI_EXPORT extern PJRT_Client* TF_GetPjRtCClient(const char* device_type, TF_Status* status);

// The buffer behind a tensor of such a device, valid as long as the tensor and until another is
// set. NULL and TF_INTERNAL for a tensor without one, for a tensor in memory and for NULL.
TF_CAPI_EXPORT extern PJRT_Buffer* TF_GetPjRtCBuffer(TF_Tensor* c_tensor, TF_Status* status);

// Makes `c_buffer` the buffer behind the tensor, in the place of one that is there. The host then
// owns `c_buffer`, which is of the device type's client; on an error it does not. TF_INTERNAL if
// the tensor is NULL or in memory, TF_NOT_FOUND without a client, TF_INVALID_ARGUMENT if `c_buffer`
// is NULL.
TF_CAPI_EXPORT extern void TF_CreatePjRtBuffer(TF_Tensor* c_tensor, PJRT_Buffer* c_buffer,
                                               const char* device_type, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_NEXT_PLUGGABLE_DEVICE_C_API_H_
