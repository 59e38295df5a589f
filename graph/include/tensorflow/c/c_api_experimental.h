// The part of TensorFlow's experimental C interface that this host has: plug-ins for devices, and
// what TensorFlow's Python needs besides c_api.h.
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// 1 if automatic clustering for XLA is on. This host has no XLA: always 0.
TF_CAPI_EXPORT extern unsigned char TF_GetXlaAutoJitEnabled(void);

// 1 if `op_type` is stateful, else 0. For an unknown op 0 and TF_NOT_FOUND.
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type, TF_Status* status);

// The graph, or the function, as text for people, in protobuf's form. The caller releases the text
// with free(). `*len` is its length in bytes, without the NUL; `len` may be NULL. The result is
// NULL when memory is short. Of a graph that cannot be printed the text is the error.
TF_CAPI_EXPORT extern const char* TF_GraphDebugString(TF_Graph* graph, size_t* len);
TF_CAPI_EXPORT extern char* TF_FunctionDebugString(TF_Function* func, size_t* len);

// Whether an import refuses a node that asks for the device of a node ("loc:@NAME" in the attribute
// _class) which the GraphDef does not have. On at first.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions* opts, unsigned char enable);

// Takes a function out of the graph. Operations that call it stay, and can no longer run.
// TF_INVALID_ARGUMENT if there is no such function.
TF_CAPI_EXPORT extern void TF_GraphRemoveFunction(TF_Graph* g, const char* func_name,
                                                  TF_Status* status);

// Opens a plug-in and calls the entry points that it exports, in this order: SE_InitPlugin,
// TF_InitKernel, TF_InitGraph, TF_InitProfiler. What they register is published at the end, all of
// it or, after an error, nothing. A second call for a loaded plug-in calls no entry point and
// returns another handle. A call for a plug-in that failed returns the same error, but for
// TF_NOT_FOUND, after which it tries again.
//
// NULL on an error: TF_NOT_FOUND with the loader's words if the file cannot be opened,
// TF_FAILED_PRECONDITION if the plug-in loads itself, needs the runtime of a sanitizer that the
// process lacks or leaves a required member unset, TF_INTERNAL if an entry point throws,
// TF_ALREADY_EXISTS if another load has meanwhile taken the name of one of its ops, else the status
// of the entry point that failed. Callable from any thread. Release the handle with the next
// function.
TF_CAPI_EXPORT extern TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename,
                                                                TF_Status* status);

// Releases the handle; the plug-in stays loaded. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_C_API_EXPERIMENTAL_H_
