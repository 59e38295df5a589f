// PJRT's types as far as this interface passes them on: incomplete, pointers only. A plug-in that
// uses PJRT has PJRT's own header (xla/pjrt/c/pjrt_c_api.h) on its include path; it is then
// included here, so that the types are complete.
#ifndef TENON_XLA_PJRT_C_PJRT_C_API_TYPES_H_
#define TENON_XLA_PJRT_C_PJRT_C_API_TYPES_H_

#if defined(__has_include)
#if __has_include("xla/pjrt/c/pjrt_c_api.h")
#include "xla/pjrt/c/pjrt_c_api.h"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PJRT_Api PJRT_Api;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_NamedValue PJRT_NamedValue;

#ifdef __cplusplus
}
#endif

#endif  // TENON_XLA_PJRT_C_PJRT_C_API_TYPES_H_
