// The part of TensorFlow's experimental C interface that device plug-ins and their loaders use.
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

// 1 if `op_type` is stateful, else 0; an unknown op gives 0 and a non-OK status.
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type, TF_Status* status);

// Opens a device plug-in and calls the entry points that it exports. NULL on failure, with
// TF_NOT_FOUND and the loader's words if the file cannot be opened, or with the plug-in's own
// status. A file that is loaded already is not loaded again. Release with the next function.
TF_CAPI_EXPORT extern TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename,
                                                                TF_Status* status);

// Releases the handle; the plug-in stays loaded.
TF_CAPI_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_C_API_EXPERIMENTAL_H_
