// Profilers: how a plug-in reports what its device did.
//
// The plug-in exports TF_InitProfiler. Structs follow the rules of stream_executor.h: the host
// allocates and presets struct_size, the plug-in fills in, destroy functions free the contents.
#ifndef TENSORFLOW_C_EXPERIMENTAL_PLUGGABLE_PROFILER_PLUGGABLE_PROFILER_H_
#define TENSORFLOW_C_EXPERIMENTAL_PLUGGABLE_PROFILER_PLUGGABLE_PROFILER_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_status.h"

#define TP_MAJOR 0
#define TP_MINOR 0
#define TP_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TP_Profiler {
  size_t struct_size;
  void* ext;
  const char* device_type;  // required, matches [A-Z][A-Z_]*
} TP_Profiler;

#define TP_PROFILER_STRUCT_SIZE TF_OFFSET_OF_END(TP_Profiler, device_type)

// All required. Calls come from one thread at a time.
typedef struct TP_ProfilerFns {
  size_t struct_size;
  void* ext;

  void (*start)(const TP_Profiler* profiler, TF_Status* status);
  void (*stop)(const TP_Profiler* profiler, TF_Status* status);

  // With `buffer` NULL: sets *size_in_bytes to what the data takes (0: none). Then, with a buffer
  // of that size: writes the data, a serialized XSpace, and forgets it.
  void (*collect_data_xspace)(const TP_Profiler* profiler, uint8_t* buffer, size_t* size_in_bytes,
                              TF_Status* status);
} TP_ProfilerFns;

#define TP_PROFILER_FNS_STRUCT_SIZE TF_OFFSET_OF_END(TP_ProfilerFns, collect_data_xspace)

typedef struct TF_ProfilerRegistrationParams {
  size_t struct_size;
  void* ext;

  int32_t major_version;  // the host's TP_MAJOR, TP_MINOR, TP_PATCH
  int32_t minor_version;
  int32_t patch_version;

  TP_Profiler* profiler;         // to fill in
  TP_ProfilerFns* profiler_fns;  // to fill in

  // To set, required. Other hosts call these more than once.
  void (*destroy_profiler)(TP_Profiler* profiler);
  void (*destroy_profiler_fns)(TP_ProfilerFns* profiler_fns);
} TF_ProfilerRegistrationParams;

#define TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TF_ProfilerRegistrationParams, destroy_profiler_fns)

// Exported by the plug-in. Called once, on the thread that loads the library.
void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_PLUGGABLE_PROFILER_PLUGGABLE_PROFILER_H_
