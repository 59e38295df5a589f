// Profilers: how a plug-in reports what its device did.
//
// The plug-in exports TF_InitProfiler. Structs follow the rules of stream_executor.h: the host
// allocates them and presets struct_size, the plug-in fills in members, and destroy functions free
// the contents.
//
// For each profile the host calls start, later stop, then collect_data_xspace twice: for the size
// and for the data. After an error of one function it calls no further one for this profile, and
// reports the error; the run that is profiled goes on.
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
  const char* device_type;  // required, matches [A-Z][A-Z_]*; lives until destroy_profiler
} TP_Profiler;

#define TP_PROFILER_STRUCT_SIZE TF_OFFSET_OF_END(TP_Profiler, device_type)

// All required. Calls come from one thread at a time.
typedef struct TP_ProfilerFns {
  size_t struct_size;
  void* ext;

  void (*start)(const TP_Profiler* profiler, TF_Status* status);
  void (*stop)(const TP_Profiler* profiler, TF_Status* status);

  // The first call has `buffer` NULL: sets *size_in_bytes to the size of the data, at most 256 MiB;
  // with 0 there is no second call. The second call has a buffer of that size, which *size_in_bytes
  // repeats: writes the data, a serialized XSpace, sets *size_in_bytes to the number of bytes
  // written, if they are fewer, and forgets the data. Other hosts do not set *size_in_bytes before
  // the calls. A larger answer, a write behind the buffer, bytes that are no XSpace, and an XSpace
  // of more than 2^22 messages and strings are reported as TF_DATA_LOSS, and the profile is
  // dropped.
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

  // To set, required. This host calls each once, when the plug-in is unloaded or when its load
  // fails after TF_InitProfiler has returned TF_OK. It calls neither after an error of
  // TF_InitProfiler. Other hosts call them more than once.
  void (*destroy_profiler)(TP_Profiler* profiler);
  void (*destroy_profiler_fns)(TP_ProfilerFns* profiler_fns);
} TF_ProfilerRegistrationParams;

#define TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TF_ProfilerRegistrationParams, destroy_profiler_fns)

// Exported by the plug-in. Called once per load, on the thread that loads the library. An error in
// `status`, or a required member that is NULL, fails the load.
void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_PLUGGABLE_PROFILER_PLUGGABLE_PROFILER_H_
