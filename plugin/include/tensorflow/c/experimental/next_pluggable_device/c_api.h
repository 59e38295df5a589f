// Further functions for kernels of devices that bring a PJRT client: resources, locked variables,
// the key-value store of a distributed run, and the link between tensors and PJRT buffers.
//
// Functions with a TF_OpKernelContext run inside compute_func. What this host has no meaning for
// (no cluster, no PJRT client of that type) answers with a status that says so.
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

// The device that the kernel runs on; owned by the host.
TF_CAPI_EXPORT extern TF_Device* TF_GetDevice(TF_OpKernelContext* ctx);

// --- Objects of the plug-in, kept by the host under container and name ---

// Takes `plugin_resource` over; delete_func frees it in the end.
TF_CAPI_EXPORT extern void TF_CreatePluginResource(TF_OpKernelContext* ctx,
                                                   const char* container_name,
                                                   const char* plugin_resource_name,
                                                   void* plugin_resource,
                                                   void (*delete_func)(void*), TF_Status* status);

// The object of that name, made by create_func(create_func_args) if there is none. It stays owned
// by the host; NULL on error.
TF_CAPI_EXPORT extern void TF_LookupOrCreatePluginResource(
    TF_OpKernelContext* ctx, const char* container_name, const char* plugin_resource_name,
    void** result_plugin_resource, void* (*create_func)(void*), void* create_func_args,
    void (*delete_func)(void*), TF_Status* status);

// --- Variables ---

// The variable behind resource input `index`; NULL and TF_INVALID_ARGUMENT if it is none. Ends with
// TF_DeleteVariableInfo.
TF_CAPI_EXPORT extern TF_VariableInfo* TF_CreateVariableInfoFromContext(TF_OpKernelContext* ctx,
                                                                        int index,
                                                                        TF_Status* status);

// Locks all of them, in an order that cannot deadlock, until each is deleted.
TF_CAPI_EXPORT extern void TF_LockVariableInfos(TF_VariableInfo** vars, int num_vars,
                                                TF_Status* status);

// Gives the variable new memory of its type and shape.
TF_CAPI_EXPORT extern void TF_AllocateTempForVariableInfo(TF_OpKernelContext* ctx,
                                                          TF_VariableInfo* var_info,
                                                          TF_Status* status);

// A new handle on the variable's tensor, which the caller deletes.
TF_CAPI_EXPORT extern TF_Tensor* TF_GetTensorFromVariableInfo(TF_VariableInfo* var_info,
                                                              TF_Status* status);

// Releases the lock, if held, and the object.
TF_CAPI_EXPORT extern void TF_DeleteVariableInfo(TF_VariableInfo* var_info);

// --- Key-value store of a distributed run. Sizes in bytes; buffers belong to the caller ---

TF_CAPI_EXPORT extern TF_CoordinationServiceAgent* TF_GetCoordinationServiceAgent(
    TF_OpKernelContext* ctx);

// False for NULL.
TF_CAPI_EXPORT extern bool TF_CoordinationServiceIsInitialized(TF_CoordinationServiceAgent* agent);

TF_CAPI_EXPORT extern void TF_CoordinationServiceInsertKeyValue(const char* key, int64_t key_size,
                                                                const char* value,
                                                                int64_t value_size,
                                                                TF_CoordinationServiceAgent* agent,
                                                                TF_Status* status);

// Waits until the key has a value; NULL on error.
TF_CAPI_EXPORT extern TF_Buffer* TF_CoordinationServiceGetKeyValue(
    const char* key, int64_t key_size, TF_CoordinationServiceAgent* agent, TF_Status* status);

// Waits at most so many seconds; TF_INVALID_ARGUMENT if they are not positive,
// TF_DEADLINE_EXCEEDED when they are over.
TF_CAPI_EXPORT extern TF_Buffer* TF_CoordinationServiceGetKeyValueWithTimeout(
    const char* key, int64_t key_size, int64_t timeout_seconds, TF_CoordinationServiceAgent* agent,
    TF_Status* status);

// Does not wait.
TF_CAPI_EXPORT extern TF_Buffer* TF_CoordinationServiceTryGetKeyValue(
    const char* key, int64_t key_size, TF_CoordinationServiceAgent* agent, TF_Status* status);

TF_CAPI_EXPORT extern void TF_CoordinationServiceDeleteKeyValue(const char* key, int64_t key_size,
                                                                TF_CoordinationServiceAgent* agent,
                                                                TF_Status* status);

// --- PJRT. Clients and buffers stay owned by the host ---

// Makes the host's client for the device type. The status is the second argument here.
TF_CAPI_EXPORT extern void TF_CreateAndSetPjRtCApiClient(const char* device_type, TF_Status* status,
                                                         PJRT_NamedValue* create_options,
                                                         int num_options);

TF_CAPI_EXPORT extern void TF_ResetPjRtCClient(const char* device_type, TF_Status* status);

// NULL on error.
TF_CAPI_EXPORT extern PJRT_Client* TF_GetPjRtCClient(const char* device_type, TF_Status* status);

// The buffer behind a tensor of such a device; NULL on error.
TF_CAPI_EXPORT extern PJRT_Buffer* TF_GetPjRtCBuffer(TF_Tensor* c_tensor, TF_Status* status);

// Puts `c_buffer`, which the tensor then owns, behind the tensor.
TF_CAPI_EXPORT extern void TF_CreatePjRtBuffer(TF_Tensor* c_tensor, PJRT_Buffer* c_buffer,
                                               const char* device_type, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_NEXT_PLUGGABLE_DEVICE_C_API_H_
