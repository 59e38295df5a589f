// Elements of TF_STRING tensors, as functions of the host. The layout and the inline functions
// (TF_TString_*) are in tsl/platform/ctstring.h; these do the same through a call, for languages
// that cannot compile inline C.
#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_tensor.h"
#include "tsl/platform/ctstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes `t` an empty string; what it held before is forgotten, not freed.
TF_CAPI_EXPORT extern void TF_StringInit(TF_TString* t);

// `dst` gets a copy of `size` bytes. `dst` must be initialised.
TF_CAPI_EXPORT extern void TF_StringCopy(TF_TString* dst, const char* src, size_t size);

// `dst` refers to the caller's bytes, which must outlive it.
TF_CAPI_EXPORT extern void TF_StringAssignView(TF_TString* dst, const char* src, size_t size);

// The bytes; not NUL-terminated when the string is a view. Valid until `tstr` is changed.
TF_CAPI_EXPORT extern const char* TF_StringGetDataPointer(const TF_TString* tstr);

TF_CAPI_EXPORT extern TF_TString_Type TF_StringGetType(const TF_TString* str);

TF_CAPI_EXPORT extern size_t TF_StringGetSize(const TF_TString* tstr);

// Bytes that fit without a new allocation; 0 for views.
TF_CAPI_EXPORT extern size_t TF_StringGetCapacity(const TF_TString* str);

// Frees what the string owns and leaves it empty.
TF_CAPI_EXPORT extern void TF_StringDealloc(TF_TString* tstr);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_TSTRING_H_
