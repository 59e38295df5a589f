// Files, time, threads and shared libraries, for plug-ins that want the host's. Callable from any
// thread. Errors of the system arrive as the code that TF_SetStatusFromIOError gives them.
#ifndef TENSORFLOW_C_ENV_H_
#define TENSORFLOW_C_ENV_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_WritableFileHandle TF_WritableFileHandle;
typedef struct TF_StringStream TF_StringStream;
typedef struct TF_Thread TF_Thread;

typedef struct TF_ThreadOptions {
  size_t stack_size;  // bytes, 0: the system's default
  size_t guard_size;  // bytes, 0: the system's default
  int numa_node;      // -1: any
} TF_ThreadOptions;

// --- Files ---

TF_CAPI_EXPORT extern void TF_CreateDir(const char* dirname, TF_Status* status);

// The directory must be empty.
TF_CAPI_EXPORT extern void TF_DeleteDir(const char* dirname, TF_Status* status);

// Deletes the directory and all below it. The counts say how many files and directories are left.
TF_CAPI_EXPORT extern void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                                                int64_t* undeleted_dir_count, TF_Status* status);

TF_CAPI_EXPORT extern void TF_FileStat(const char* filename, TF_FileStatistics* stats,
                                       TF_Status* status);

// Opens for writing; an existing file is emptied. *handle ends with TF_CloseWritableFile.
TF_CAPI_EXPORT extern void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle,
                                              TF_Status* status);

// Closes the file and frees the handle, also on error.
TF_CAPI_EXPORT extern void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

// Forces what was written onto the storage device.
TF_CAPI_EXPORT extern void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

// Hands what was written to the system.
TF_CAPI_EXPORT extern void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

TF_CAPI_EXPORT extern void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data,
                                                 size_t length, TF_Status* status);

TF_CAPI_EXPORT extern void TF_DeleteFile(const char* filename, TF_Status* status);

// Steps through a list of strings: true and the next one, or false and NULL at the end. The string
// lives until the list is freed.
TF_CAPI_EXPORT extern bool TF_StringStreamNext(TF_StringStream* list, const char** result);

// Frees the list.
TF_CAPI_EXPORT extern void TF_StringStreamDone(TF_StringStream* list);

// Names (not paths) of a directory's entries, "." and ".." left out. NULL on error.
TF_CAPI_EXPORT extern TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status);

// Directories for temporary files, best first.
TF_CAPI_EXPORT extern TF_StringStream* TF_GetLocalTempDirectories(void);

// Path of a new, empty temporary file, ending in ".extension"; NULL if none can be made. The caller
// calls free().
TF_CAPI_EXPORT extern char* TF_GetTempFileName(const char* extension);

// --- Time since the Unix epoch ---

TF_CAPI_EXPORT extern uint64_t TF_NowNanos(void);
TF_CAPI_EXPORT extern uint64_t TF_NowMicros(void);
TF_CAPI_EXPORT extern uint64_t TF_NowSeconds(void);

// --- Threads ---

// Sets stack_size 0, guard_size 0, numa_node -1.
TF_CAPI_EXPORT extern void TF_DefaultThreadOptions(TF_ThreadOptions* options);

// Runs work_func(param) on a new thread. The result ends with TF_JoinThread.
TF_CAPI_EXPORT extern TF_Thread* TF_StartThread(const TF_ThreadOptions* options,
                                                const char* thread_name, void (*work_func)(void*),
                                                void* param);

// Waits for the thread to end and frees the handle.
TF_CAPI_EXPORT extern void TF_JoinThread(TF_Thread* thread);

// --- Shared libraries ---

// NULL and the loader's words on error.
TF_CAPI_EXPORT extern void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status);

// NULL and TF_NOT_FOUND if the library has no such symbol.
TF_CAPI_EXPORT extern void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name,
                                                    TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_ENV_H_
