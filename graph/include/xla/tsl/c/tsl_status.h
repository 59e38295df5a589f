// Error codes and the status object under their TSL_ names. tf_status.h has the TF_ names of the
// same objects and functions; a program may mix the two sets.
//
// A NULL status is ignored by functions that change one, and counts as TSL_OK for the others.
// TensorFlow crashes on one.
#ifndef XLA_TSL_C_TSL_STATUS_H_
#define XLA_TSL_C_TSL_STATUS_H_

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// Opaque. Not thread-safe: one thread at a time may touch a status.
typedef struct TSL_Status TSL_Status;

// The numbers are those of absl::StatusCode and gRPC.
typedef enum TSL_Code {
  TSL_OK = 0,
  TSL_CANCELLED = 1,
  TSL_UNKNOWN = 2,
  TSL_INVALID_ARGUMENT = 3,
  TSL_DEADLINE_EXCEEDED = 4,
  TSL_NOT_FOUND = 5,
  TSL_ALREADY_EXISTS = 6,
  TSL_PERMISSION_DENIED = 7,
  TSL_RESOURCE_EXHAUSTED = 8,
  TSL_FAILED_PRECONDITION = 9,
  TSL_ABORTED = 10,
  TSL_OUT_OF_RANGE = 11,
  TSL_UNIMPLEMENTED = 12,
  TSL_INTERNAL = 13,
  TSL_UNAVAILABLE = 14,
  TSL_DATA_LOSS = 15,
  TSL_UNAUTHENTICATED = 16,
} TSL_Code;

// A new status: TSL_OK, empty message; NULL when there is no memory for it. Release it with
// TSL_DeleteStatus.
TF_CAPI_EXPORT extern TSL_Status* TSL_NewStatus(void);

// Releases a status that TSL_NewStatus made. NULL is allowed. A status of the host, such as the one
// that a callback gets, stays as it is, with a warning on stderr.
TF_CAPI_EXPORT extern void TSL_DeleteStatus(TSL_Status* s);

// Replaces code and message and drops all payloads. `msg` is copied; NULL counts as "". With TSL_OK
// the message is empty whatever `msg` is. A number outside of TSL_Code counts as TSL_UNKNOWN.
TF_CAPI_EXPORT extern void TSL_SetStatus(TSL_Status* s, TSL_Code code, const char* msg);

// Attaches `value` under `key`, both copied; an earlier value of that key is replaced. Does nothing
// if the status is TSL_OK, or if `key` or `value` is NULL.
TF_CAPI_EXPORT extern void TSL_SetPayload(TSL_Status* s, const char* key, const char* value);

// Receives one payload. The strings live for the duration of the call.
typedef void (*TSL_PayloadVisitor)(const char* key, const char* value, void* capture);

// Calls `visitor` once per payload, in no particular order, and passes `capture` on. The visitor
// must not change `s`.
TF_CAPI_EXPORT extern void TSL_ForEachPayload(const TSL_Status* s, TSL_PayloadVisitor visitor,
                                              void* capture);

// Replaces code, message and payloads by those of an errno value: the code that fits best,
// TSL_UNKNOWN if none does; the message "context; the system's text". 0 makes the status TSL_OK.
// `context` may be NULL.
TF_CAPI_EXPORT extern void TSL_SetStatusFromIOError(TSL_Status* s, int error_code,
                                                    const char* context);

TF_CAPI_EXPORT extern TSL_Code TSL_GetCode(const TSL_Status* s);

// The message, NUL-terminated, "" when TSL_OK. Owned by `s`, valid until `s` is next changed.
TF_CAPI_EXPORT extern const char* TSL_Message(const TSL_Status* s);

#ifdef __cplusplus
}
#endif

#endif  // XLA_TSL_C_TSL_STATUS_H_
