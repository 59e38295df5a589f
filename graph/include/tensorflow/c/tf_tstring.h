// Elements of TF_STRING tensors, as functions of the host, for languages that cannot compile inline
// C. The layout and the inline functions (TF_TString_*) are in tsl/platform/ctstring.h.
// TF_StringX here does what the inline TF_TString_X does. A string must be initialised before any
// other function gets it; the elements of a tensor that the host allocated are. A NULL string
// counts as an empty one, with NULL for its bytes and a capacity of 0, and is not changed. A NULL
// `src`, or a `size` above 2^46, counts as no bytes.
#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_tensor.h"
#include "tsl/platform/ctstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes `t` an empty string. Its former bytes are not freed.
TF_CAPI_EXPORT extern void TF_StringInit(TF_TString* t);

// `dst` becomes an owned copy of `size` bytes, which must not lie in `dst`. Its former bytes are
// freed or overwritten. When memory is short `dst` stays as it was, without a report.
TF_CAPI_EXPORT extern void TF_StringCopy(TF_TString* dst, const char* src, size_t size);

// `dst` becomes a view, without an owner, of the caller's `size` bytes. They must live until `dst`
// gets another value; TF_StringDealloc does not end the view. Former bytes of `dst` are freed.
TF_CAPI_EXPORT extern void TF_StringAssignView(TF_TString* dst, const char* src, size_t size);

// The bytes, valid until `tstr` is changed or moved. A NUL follows only the bytes of SMALL and
// LARGE strings.
TF_CAPI_EXPORT extern const char* TF_StringGetDataPointer(const TF_TString* tstr);

TF_CAPI_EXPORT extern TF_TString_Type TF_StringGetType(const TF_TString* str);

TF_CAPI_EXPORT extern size_t TF_StringGetSize(const TF_TString* tstr);

// Bytes that fit without a new allocation; 0 for VIEW and OFFSET strings.
TF_CAPI_EXPORT extern size_t TF_StringGetCapacity(const TF_TString* str);

// Frees the bytes of a LARGE string, or gives back the reference that a VIEW holds on its owner,
// and leaves the string empty. Any other string stays as it is, a VIEW without an owner too.
TF_CAPI_EXPORT extern void TF_StringDealloc(TF_TString* tstr);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_TSTRING_H_
