// Files, time, threads and shared libraries, for plug-ins that want the host's. Callable from any
// thread; one file handle or list is for one thread at a time. An error of the system sets the
// status that TF_SetStatusFromIOError makes of it, with the path as context. Paths are those of the
// local file system. A function with a status sets TF_INVALID_ARGUMENT, and does nothing else, for
// a NULL pointer where no comment allows NULL.
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
  size_t stack_size;  // bytes; 0, or less than a stack must have: the system's default
  size_t guard_size;  // bytes; 0: the system's default
  int numa_node;      // -1: any; this host does not look at it
} TF_ThreadOptions;

// --- Files ---

// Creates one directory, in a directory that exists. TF_ALREADY_EXISTS if the path is taken.
TF_CAPI_EXPORT extern void TF_CreateDir(const char* dirname, TF_Status* status);

// The directory must be empty.
TF_CAPI_EXPORT extern void TF_DeleteDir(const char* dirname, TF_Status* status);

// Deletes the directory and all below it, without following symbolic links. Goes on after an entry
// that it cannot delete, and sets the counts, on an error too, to the numbers of files and of
// directories that are left, without those in a directory that it cannot read; TF_UNKNOWN if any
// are. For a path that does not exist TF_NOT_FOUND and the counts 0 and 1. A path that is no
// directory, or is a symbolic link, is deleted as by TF_DeleteFile.
TF_CAPI_EXPORT extern void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                                                int64_t* undeleted_dir_count, TF_Status* status);

// Fills in `stats` for a file or directory; follows symbolic links; *stats is left alone on an
// error.
TF_CAPI_EXPORT extern void TF_FileStat(const char* filename, TF_FileStatistics* stats,
                                       TF_Status* status);

// Opens a file for writing; an existing file is emptied. Release *handle with TF_CloseWritableFile.
// On an error *handle is left alone.
TF_CAPI_EXPORT extern void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle,
                                              TF_Status* status);

// Writes what is still in the buffer, closes the file and frees the handle, also on an error.
TF_CAPI_EXPORT extern void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

// Hands what was appended to the system, and waits until it is on the storage device.
TF_CAPI_EXPORT extern void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

// Hands what was appended to the system.
TF_CAPI_EXPORT extern void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

// Appends `length` bytes to a buffer of the host, which may hand bytes to the system at any time.
// After an error a part of the bytes may be written. `data` may be NULL if `length` is 0.
TF_CAPI_EXPORT extern void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data,
                                                 size_t length, TF_Status* status);

// Deletes a file or a symbolic link, no directory.
TF_CAPI_EXPORT extern void TF_DeleteFile(const char* filename, TF_Status* status);

// Steps through a list of strings: returns true and sets *result to the next string, or returns
// false and sets *result to NULL at the end. The strings live until the list is freed.
TF_CAPI_EXPORT extern bool TF_StringStreamNext(TF_StringStream* list, const char** result);

// Frees the list and its strings, at its end or before. NULL is allowed.
TF_CAPI_EXPORT extern void TF_StringStreamDone(TF_StringStream* list);

// A new list of the names (not paths) of a directory's entries, "." and ".." left out, in no
// particular order. On an error of the system the list is empty, not NULL. The caller frees it in
// either case. NULL if `filename` is NULL or memory is short.
TF_CAPI_EXPORT extern TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status);

// A new list of the directories for temporary files that exist, best first: those of the
// environment variables TEST_TMPDIR, TMPDIR and TMP, then /tmp. The caller frees it.
TF_CAPI_EXPORT extern TF_StringStream* TF_GetLocalTempDirectories(void);

// Creates an empty temporary file with a new name and returns its path; NULL if none can be made.
// `extension` has no dot: the path ends in "." and `extension`, or has no ending if `extension` is
// NULL or "". The caller frees the path with free() and deletes the file.
TF_CAPI_EXPORT extern char* TF_GetTempFileName(const char* extension);

// --- Time since the Unix epoch, by the system's clock, which may be set back ---

TF_CAPI_EXPORT extern uint64_t TF_NowNanos(void);
TF_CAPI_EXPORT extern uint64_t TF_NowMicros(void);
TF_CAPI_EXPORT extern uint64_t TF_NowSeconds(void);

// --- Threads ---

// Sets stack_size 0, guard_size 0, numa_node -1.
TF_CAPI_EXPORT extern void TF_DefaultThreadOptions(TF_ThreadOptions* options);

// Runs work_func(param) on a new thread. NULL, and no call, if the system gives no thread, as for
// sizes too large for it, or work_func is NULL. `options` may be NULL for the defaults. The thread
// is named by the first 15 bytes of `thread_name`, which may be NULL. End with TF_JoinThread.
TF_CAPI_EXPORT extern TF_Thread* TF_StartThread(const TF_ThreadOptions* options,
                                                const char* thread_name, void (*work_func)(void*),
                                                void* param);

// Waits for the thread to end and frees the handle. NULL is allowed. Not to be called on the thread
// itself.
TF_CAPI_EXPORT extern void TF_JoinThread(TF_Thread* thread);

// --- Shared libraries ---

// Opens a library, by a path or a name that the system's loader searches. A NULL or empty name
// opens the program itself. The library's symbols are not made global. The result is NULL on an
// error: TF_NOT_FOUND with the loader's words, TF_INTERNAL if a constructor of the library throws.
// The interface has no function that closes the library.
TF_CAPI_EXPORT extern void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status);

// The address of a function or variable. `handle` is a result of TF_LoadSharedLibrary, or NULL for
// the program itself. NULL and TF_INVALID_ARGUMENT for another handle, NULL and TF_NOT_FOUND if the
// library, with the libraries that it depends on, has no such symbol.
TF_CAPI_EXPORT extern void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name,
                                                    TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_ENV_H_
