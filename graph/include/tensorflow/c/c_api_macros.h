// Macros shared by every header of the C plug-in interface.
//
// All these headers are valid C11 and C++17. They keep TensorFlow's names, signatures and struct
// layouts, so that a plug-in compiled against either set of headers runs in either host. Include
// guards carry TensorFlow's names too: with both sets on the include path the first one wins.
//
// Where no comment says otherwise, these rules hold for a call of the host's functions:
// * A pointer must not be NULL.
// * A string ends in a NUL, and the host copies it.
// * The caller keeps what its pointers lead to, and the host does not use it after the call.
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#include <stddef.h>

// Marks a function that the host exports. With TF_CAPI_WEAK defined these functions become weak
// references: the plug-in then also loads into a host that lacks some of them, and must compare a
// function's address with NULL before it calls the function.
#ifdef TF_CAPI_WEAK
#define TF_CAPI_EXPORT __attribute__((visibility("default"), weak))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

// One byte, 0 or 1. A macro and not a type: C and C++ must agree on its size.
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

// The number of bytes of TYPE up to the end of MEMBER, without the padding behind it. Each
// *_STRUCT_SIZE macro is this number for the last member that the header knows, and so tells the
// version of the struct. It may be less than sizeof.
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

#endif  // TENSORFLOW_C_C_API_MACROS_H_
