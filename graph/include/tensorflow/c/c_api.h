// Version, registry queries and library loading: the part of the C interface that plug-ins use.
// Building and running graphs is done through the C++ interface (<tenon/session.h>).
#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes owned by someone else; not necessarily NUL-terminated.
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

// The TensorFlow version whose plug-in interface the host speaks. Static storage.
TF_CAPI_EXPORT extern const char* TF_Version(void);

// Parses a serialized TensorProto into `to`, whose type, shape and data are replaced.
// TF_INVALID_ARGUMENT if the bytes do not parse.
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to,
                                              TF_Status* status);

// A loaded library of ops and kernels.
typedef struct TF_Library TF_Library;

// Opens a shared library that registers ops from its static constructors. NULL and TF_NOT_FOUND
// with the loader's words on failure. Release with TF_DeleteLibraryHandle.
TF_CAPI_EXPORT extern TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status);

// Serialized OpList of what the library registered. The data belongs to `lib_handle`.
TF_CAPI_EXPORT extern TF_Buffer TF_GetOpList(TF_Library* lib_handle);

// Releases the handle; ops and kernels stay registered.
TF_CAPI_EXPORT extern void TF_DeleteLibraryHandle(TF_Library* lib_handle);

// Serialized OpList of every registered op. The caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllOpList(void);

// Serialized KernelList of every registered kernel. The caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);

// The same for one op; an empty list if it has no kernel. The caller deletes the buffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_C_API_H_
