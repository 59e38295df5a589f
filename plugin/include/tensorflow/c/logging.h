// Log lines of plug-ins, into the host's log. printf formats. Callable from any thread.
#ifndef TENSORFLOW_C_LOGGING_H_
#define TENSORFLOW_C_LOGGING_H_

#include "tensorflow/c/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_LogLevel {
  TF_INFO = 0,
  TF_WARNING = 1,
  TF_ERROR = 2,
  TF_FATAL = 3,  // in TensorFlow this ends the process
} TF_LogLevel;

// A level that does not exist is ignored.
TF_CAPI_EXPORT extern void TF_Log(TF_LogLevel level, const char* fmt, ...);

// Logged only if the host's verbosity is at least `level`.
TF_CAPI_EXPORT extern void TF_VLog(int level, const char* fmt, ...);

// As TF_VLog, in debug builds of the host only.
TF_CAPI_EXPORT extern void TF_DVLog(int level, const char* fmt, ...);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_LOGGING_H_
