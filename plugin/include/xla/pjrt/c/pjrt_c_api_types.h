// The types of PJRT to which this interface passes pointers. If PJRT's own header
// (xla/pjrt/c/pjrt_c_api.h) is on the include path, as in a plug-in that uses PJRT, it is included
// here and makes the types complete. Else they stay incomplete.
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
