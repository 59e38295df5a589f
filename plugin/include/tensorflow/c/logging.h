// Log lines of plug-ins. `fmt` and the arguments are as for printf, without a newline at the end.
// The host writes each text and a newline to stderr. Before the text stand the level, "vlog" for
// TF_VLog, and within a call into a plug-in the plug-in's path. Texts are cut off after 2,047
// bytes. A NULL `fmt` writes nothing. Callable from any thread.
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
  TF_FATAL = 3,  // TensorFlow ends the process; this host writes the text and goes on
} TF_LogLevel;

// Writes nothing if `level` is below the number in the environment variable TF_CPP_MIN_LOG_LEVEL
// (by default 0), as it was at the first call, or is none of TF_LogLevel.
TF_CAPI_EXPORT extern void TF_Log(TF_LogLevel level, const char* fmt, ...);

// Writes the text only if `level` is at most the number in the environment variable
// TF_CPP_MAX_VLOG_LEVEL (by default 0), as it was at the first call.
TF_CAPI_EXPORT extern void TF_VLog(int level, const char* fmt, ...);

// Does what TF_VLog does in a debug build of the host, and nothing in a release build.
TF_CAPI_EXPORT extern void TF_DVLog(int level, const char* fmt, ...);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_LOGGING_H_
