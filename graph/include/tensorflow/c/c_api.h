// Version, registry queries and library loading: the part of TensorFlow's c_api.h that plug-ins
// use. The functions that build and run graphs are not there. Callable from any thread.
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

// A view of bytes, which need not end in a NUL. The function that returns the view says how long
// the bytes live. The receiver frees nothing.
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

// The release of TensorFlow that has the plug-in interface of this host: "2.21.0". Static storage.
TF_CAPI_EXPORT extern const char* TF_Version(void);

// Parses a serialized TensorProto into new host memory. `to` becomes a handle on that memory, with
// the type and shape of the TensorProto. Other handles on the former buffer of `to` keep it. `from`
// is only read. On an error `to` stays as it was: TF_INVALID_ARGUMENT if the bytes do not parse, if
// no tensor can have the type or shape, or if sizes contradict each other; TF_UNIMPLEMENTED for
// resources and variants; TF_RESOURCE_EXHAUSTED if the elements take more than 64 GiB or memory is
// short.
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to,
                                              TF_Status* status);

// A list of the ops that a library registered. It does not hold the library.
typedef struct TF_Library TF_Library;

// Opens a shared library that registers ops and kernels from its static constructors. Calls no
// entry point. `library_filename` must not be NULL. Returns NULL on an error: TF_NOT_FOUND with the
// loader's words if the library cannot be opened, TF_ALREADY_EXISTS if another load has meanwhile
// taken the name of one of its ops, TF_FAILED_PRECONDITION if the library loads itself or needs the
// runtime of a sanitizer that the process lacks. A second call for the same file, also under
// another name, returns another handle with the same ops; after an error it tries again. The handle
// has no ops if the process had the library open before, as by TF_LoadPluggableDeviceLibrary: the
// constructors do not run again then. The library is never unloaded. Release the handle with
// TF_DeleteLibraryHandle.
TF_CAPI_EXPORT extern TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status);

// Serialized OpList of the ops that the library registered. The data belongs to `lib_handle` and
// lives as long: the buffer has no deallocator.
TF_CAPI_EXPORT extern TF_Buffer TF_GetOpList(TF_Library* lib_handle);

// Releases the handle; ops and kernels stay registered. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteLibraryHandle(TF_Library* lib_handle);

// The next three return a new buffer, which the caller deletes with TF_DeleteBuffer; NULL when
// memory is short. A plug-in that calls them while it is loaded also sees what it has registered so
// far.

// Serialized OpList of every registered op.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllOpList(void);

// Serialized KernelList of every registered kernel: the host's own and those of plug-ins. `status`
// is always TF_OK.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);

// The same for the op `name`; an empty list for an op without kernels, for an unknown op and for
// NULL.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_C_API_H_
