// What Tenon's library offers beside TensorFlow's C API. C11 and C++. All functions are
// thread-safe, but for TENON_LoadPlugin, TENON_SetThreadPool and TENON_SetNodePlace, whose comments
// say more, and copy the texts and bytes that they are given. A function that has a `status` sets
// it; `status` must not be NULL. Objects that a function returns are the caller's. A NULL where a
// text, an object, or an array or bytes of a length above 0 are needed is TF_INVALID_ARGUMENT, and
// so is a negative number of elements. But a NULL in `feeds`, `fetches` or `keep`, and a NULL
// `init`, counts as an empty name, which no node has.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"

#define TENON_CAPI_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// The bytes of the GraphDef in a file: .pb or .pbtxt, plain or packed with xz or gzip, told apart
// by content; "-" is the standard input. NULL on an error: TF_NOT_FOUND if there is no such file,
// TF_PERMISSION_DENIED if it may not be read, TF_INVALID_ARGUMENT for what else cannot be read (a
// folder), for an empty file and for malformed content, of a text with line and column.
// Unknown ops and other defects of nodes are no error here: they are told when the graph is used.
TENON_CAPI_EXPORT extern TF_Buffer* TENON_ReadGraph(const char* path, TF_Status* status);

// Writes a GraphDef, given as its bytes, to a file: as text if the name ends in ".pbtxt", as bytes
// if it ends in ".pb", either packed if ".xz" or ".gz" follows. A regular file is written as a
// whole or not at all.
// TF_INVALID_ARGUMENT for bytes that are no GraphDef and for a name of another ending; else the
// error of the system.
TENON_CAPI_EXPORT extern void TENON_WriteGraph(const void* graph_def, size_t length,
                                               const char* path, TF_Status* status);

// A text for people on what becomes of a GraphDef that computes `fetches` ("node", "node:1") from
// `feeds` on the devices of the process. A line for each node that is left after the passes has its
// op, its device, why it is there and where the program made it. Then a line has the numbers of
// nodes before and after the passes, and there is a line for each pass that changed the graph, was
// undone or left undone. NULL on an error: TF_INVALID_ARGUMENT for bytes that are no
// sound GraphDef, else that of a session that would run the graph.
TENON_CAPI_EXPORT extern TF_Buffer* TENON_ExplainGraph(const void* graph_def, size_t length,
                                                       const char* const* feeds, int num_feeds,
                                                       const char* const* fetches, int num_fetches,
                                                       TF_Status* status);

// The GraphDef after the passes, as bytes. Arguments and errors are those of TENON_ExplainGraph.
TENON_CAPI_EXPORT extern TF_Buffer* TENON_OptimizeGraph(const void* graph_def, size_t length,
                                                        const char* const* feeds, int num_feeds,
                                                        const char* const* fetches, int num_fetches,
                                                        TF_Status* status);

// The GraphDef with constants in the place of the variables that it only reads, also in calls,
// branches and loops; as bytes. Their values are those that the node `init` of the graph gives them
// in a session of its own. Variables that the graph writes stay, and so do tables: if there are
// any, the answer has a node `init`, which gives them what the first one gave; it is the first one
// itself where `keep` needs that. The answer has the nodes of `feeds`, which must be placeholders
// and are named without ":0", those of `keep`, and what they need. NULL on an error:
// TF_INVALID_ARGUMENT for bytes that are no sound GraphDef, TF_INVALID_ARGUMENT or TF_NOT_FOUND for
// names that the graph lacks, TF_FAILED_PRECONDITION for a table that nothing fills,
// TF_UNIMPLEMENTED for a call that has no form on values and for other state that `init` fills,
// such as a queue, and the errors of the session.
TENON_CAPI_EXPORT extern TF_Buffer* TENON_FreezeGraph(const void* graph_def, size_t length,
                                                      const char* const* feeds, int num_feeds,
                                                      const char* const* keep, int num_keep,
                                                      const char* init, TF_Status* status);

// TF_LoadPluggableDeviceLibrary for a plug-in with options as the command takes them after the
// path: "libx.so;as=GPU;priority=2". An option KEY=VALUE that the command does not know becomes a
// variable of the environment of the process, in which the plug-in looks for it, and stays there.
// No other thread may read or set the environment meanwhile. TF_INVALID_ARGUMENT for an option that
// is no KEY=VALUE, and for a priority that is no whole number; other errors are those of
// TF_LoadPluggableDeviceLibrary.
TENON_CAPI_EXPORT extern void TENON_LoadPlugin(const char* path_and_options, TF_Status* status);

// Writes RunMetadata, given as its bytes (of TF_SessionRun with a trace level, or of
// TFE_ContextExportRunMetadata), as trace events, the JSON that Perfetto and chrome://tracing open:
// a row for each device and thread, a slice for each node, with its op and, as `place`, where the
// program made it. TF_INVALID_ARGUMENT for bytes that are no RunMetadata; else the error of the
// system.
TENON_CAPI_EXPORT extern void TENON_WriteTrace(const void* run_metadata, size_t length,
                                               const char* path, TF_Status* status);

// CPU threads that sessions share: their runs, the nodes of a run and the tiles of large kernels.
// Without a pool, sessions that ask for the same number of threads share those of the process, but
// for sessions whose ConfigProto has use_per_session_threads.
typedef struct TENON_ThreadPool TENON_ThreadPool;

// A pool of this number of threads, that of the caller of a run among them; 0: as many as cores
// that the process may use. TF_INVALID_ARGUMENT and NULL for a number below 0 or above 4096.
TENON_CAPI_EXPORT extern TENON_ThreadPool* TENON_NewThreadPool(int threads, TF_Status* status);

// The pool of a session, for others that shall share it. NULL on an error.
TENON_CAPI_EXPORT extern TENON_ThreadPool* TENON_ThreadPoolOfSession(TF_Session* session,
                                                                     TF_Status* status);

// The number of threads, with that of the caller of a run; 0 for NULL. Where the system gives fewer
// threads than were asked for, those that there are.
TENON_CAPI_EXPORT extern int TENON_ThreadPoolSize(const TENON_ThreadPool* pool);

// Sessions that are made with these options use the pool, whatever their ConfigProto says of
// threads, also if TF_SetConfig comes later. The options keep a hold of the pool. A NULL takes the
// pool out of the options. No other thread may use the options meanwhile.
TENON_CAPI_EXPORT extern void TENON_SetThreadPool(TF_SessionOptions* options,
                                                  const TENON_ThreadPool* pool, TF_Status* status);

// Gives the caller's hold of the pool back. Its threads end with the last session, options object
// and TENON_ThreadPool that has it. Does nothing for NULL.
TENON_CAPI_EXPORT extern void TENON_DeleteThreadPool(TENON_ThreadPool* pool);

// Notes where the program makes a node: "train.cc:42". The place stands in the node's
// experimental_debug_info, as the name of the function that the node comes from, goes with the node
// into functions and files, and is shown by TENON_ExplainGraph and by traces. Must come before
// TF_FinishOperation, on the thread that uses `desc`. Does nothing for a NULL.
TENON_CAPI_EXPORT extern void TENON_SetNodePlace(TF_OperationDescription* desc, const char* place);

// TF_AddGradientsWithPrefix, in which the `num_stops` operations `stops` of the graph count as
// constants: no gradient goes on to what they take. An x that one of them gives has the gradient
// that comes to it, as with stop_gradients of tf.gradients. The nodes of the gradient of node n are
// named "<prefix>/<n>_grad/<op>", where TF_AddGradientsWithPrefix names all "<prefix>/<op>".
TENON_CAPI_EXPORT extern void TENON_AddGradients(TF_Graph* g, const char* prefix,
                                                 const TF_Output* y, int ny, const TF_Output* x,
                                                 int nx, const TF_Output* dx,
                                                 TF_Operation* const* stops, int num_stops,
                                                 TF_Status* status, TF_Output* dy);

#ifdef __cplusplus
}
#endif
