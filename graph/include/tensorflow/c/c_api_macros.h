// Macros shared by every header of the C plug-in interface.
//
// All these headers are valid C11 and C++17. They keep TensorFlow's names, signatures and struct
// layouts, so that a plug-in compiled against either set of headers runs in either host. Include
// guards carry TensorFlow's names too: with both sets on the include path the first one wins.
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#include <stddef.h>

// Marks what the host exports. With TF_CAPI_WEAK defined the functions become weak references: a
// plug-in then loads into a host that lacks some of them and must compare an address with NULL
// before it calls.
#ifdef TF_CAPI_WEAK
#define TF_CAPI_EXPORT __attribute__((visibility("default"), weak))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

// One byte, 0 or 1. A macro and not a type: C and C++ must agree on its size.
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

// Offset just past MEMBER, padding left out. The *_STRUCT_SIZE macros are made with it: they name
// the last member that a header knows, and thereby its version.
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

#endif  // TENSORFLOW_C_C_API_MACROS_H_
