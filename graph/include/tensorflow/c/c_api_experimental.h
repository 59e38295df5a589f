// TensorFlow's experimental C interface besides that of eager execution. Strings that are given are
// copied; a null pointer is refused with TF_INVALID_ARGUMENT where there is a status and no comment
// says otherwise.
#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- Settings of XLA. This host makes clusters for plug-ins with PJRT, by TF_XLA_FLAGS and the
// command's options; the settings below have no effect. They belong to the process; the functions
// are thread-safe.

// 1 if the variable TF_XLA_FLAGS turns automatic clustering on (--tf_xla_auto_jit). A file that the
// variable names is not read. The functions below do not change the answer.
TF_CAPI_EXPORT extern unsigned char TF_GetXlaAutoJitEnabled(void);
// Do nothing.
TF_CAPI_EXPORT extern void TF_EnableXLACompilation(TF_SessionOptions* options,
                                                   unsigned char enable);
TF_CAPI_EXPORT extern void TF_SetXlaAutoJitMode(const char* mode);
TF_CAPI_EXPORT extern void TF_SetXlaMinClusterSize(int size);
// Note the setting and return the one before: 1 and 0 at first.
TF_CAPI_EXPORT extern unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable);
TF_CAPI_EXPORT extern unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable);
// The setting that the second function has noted; 0 at first.
TF_CAPI_EXPORT extern unsigned char TF_GetXlaConstantFoldingDisabled(void);
TF_CAPI_EXPORT extern void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable);

// --- Messages of protobuf, for programs without it. The caller deletes the buffers.

// A serialized ConfigProto: the level of XLA's automatic clustering, whether memory of GPUs grows
// as needed, the number of CPU devices, and one thread between operations. With
// `enable_xla_compilation` it notes 1 as TF_SetTfXlaCpuGlobalJit does.
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation,
                                                 unsigned char gpu_memory_allow_growth,
                                                 unsigned int num_cpu_devices);
// Serialized RunOptions: with a full trace, or without a trace.
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace);
// Reads a ServerDef. This host is no server: NULL and TF_UNIMPLEMENTED.
TF_CAPI_EXPORT extern TF_Buffer* TFE_GetServerDef(const char* text_proto, TF_Status* status);

// --- Queues by number: graphs in which the operations "fifo_queue_enqueue_ID", with the
// placeholder "arg_tensor_enqueue_ID", and "fifo_queue_dequeue_ID" add to a queue and take from it.

// Runs the operation in the session; waits as the queue does. TF_INTERNAL if the graph lacks the
// operation, or the placeholder; else the errors of TF_SessionRun. The caller deletes the tensor
// that is returned; NULL after an error. The caller keeps `tensor`.
TF_CAPI_EXPORT extern TF_Tensor* TF_DequeueNamedTensor(TF_Session* session, int tensor_id,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_EnqueueNamedTensor(TF_Session* session, int tensor_id,
                                                 TF_Tensor* tensor, TF_Status* status);

// Sets `status` to TF_INTERNAL with this message; NULL is an empty one.
TF_CAPI_EXPORT extern void TF_MakeInternalErrorStatus(TF_Status* status, const char* errMsg);

// --- Checkpoints of TensorFlow's second format.

// A checkpoint that is open for reading; one thread at a time.
typedef struct TF_CheckpointReader TF_CheckpointReader;
// Opens the checkpoint PREFIX, whose files are PREFIX.index and PREFIX.data-…. NULL after an error:
// TF_NOT_FOUND if there is none, TF_DATA_LOSS for a damaged index.
TF_CAPI_EXPORT extern TF_CheckpointReader* TF_NewCheckpointReader(const char* filename,
                                                                  TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteCheckpointReader(TF_CheckpointReader* reader);
// 1 if the checkpoint has a tensor of this name, else 0.
TF_CAPI_EXPORT extern int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader,
                                                       const char* name);
// The number of tensors, and the name of one: names are sorted, and belong to the reader. NULL for
// an index that is not in [0, size).
TF_CAPI_EXPORT extern int TF_CheckpointReaderSize(TF_CheckpointReader* reader);
TF_CAPI_EXPORT extern const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader,
                                                                 int index);
// The type of a tensor, and its rank; 0 and -1 if there is no tensor of this name.
TF_CAPI_EXPORT extern TF_DataType TF_CheckpointReaderGetVariableDataType(
    TF_CheckpointReader* reader, const char* name);
TF_CAPI_EXPORT extern int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader,
                                                                const char* name);
// Writes the sizes of the tensor's dimensions. TF_INVALID_ARGUMENT if `num_dims` is not the rank;
// TF_NOT_FOUND if there is no tensor of this name.
TF_CAPI_EXPORT extern void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader,
                                                               const char* name, int64_t* dims,
                                                               int num_dims, TF_Status* status);
// The tensor, which the caller deletes. NULL after an error: TF_NOT_FOUND if there is no tensor of
// this name, TF_DATA_LOSS for damaged data.
TF_CAPI_EXPORT extern TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader,
                                                              const char* name, TF_Status* status);

// --- Whether a device has a kernel for an op with these attributes. A builder belongs to one
// thread at a time. Values of the arrays are copied. Of several values of an attribute the last one
// counts.
typedef struct TF_AttrBuilder TF_AttrBuilder;
TF_CAPI_EXPORT extern TF_AttrBuilder* TF_NewAttrBuilder(const char* op_name);
TF_CAPI_EXPORT extern void TF_DeleteAttrBuilder(TF_AttrBuilder* builder);
TF_CAPI_EXPORT extern void TF_AttrBuilderSetType(TF_AttrBuilder* builder, const char* attr_name,
                                                 TF_DataType value);
TF_CAPI_EXPORT extern void TF_AttrBuilderSetTypeList(TF_AttrBuilder* builder, const char* attr_name,
                                                     const TF_DataType* values, int num_values);
// TF_OK if devices of the type, such as "CPU", have one. TF_NOT_FOUND if they have none;
// TF_INVALID_ARGUMENT if an attribute is missing that a kernel depends on.
TF_CAPI_EXPORT extern void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder* builder,
                                                             const char* device_type,
                                                             TF_Status* status);

// The name of the attribute that says how many tensors argument `input_index` of the op is, which
// belongs to the op. NULL after an error: TF_NOT_FOUND for an unknown op and for an `op_name` that
// is NULL, TF_INVALID_ARGUMENT for an index that the op does not have, TF_NOT_FOUND if the argument
// is no list of one type.
TF_CAPI_EXPORT extern const char* TF_GetNumberAttrForOpListInput(const char* op_name,
                                                                 int input_index,
                                                                 TF_Status* status);

// 1 if `op_type` is stateful, else 0. For an unknown op, and for NULL, 0 and TF_NOT_FOUND.
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type, TF_Status* status);

// Does nothing: this library reads no flags of the command line.
TF_CAPI_EXPORT extern void TF_InitMain(const char* usage, int* argc, char*** argv);
// A TCP port of this machine that no process used at the time of the call. Ends the process if
// there is none.
TF_CAPI_EXPORT extern int TF_PickUnusedPortOrDie(void);

// A handle on a scalar, whose `len` bytes are copied from `data`. The caller deletes the handle.
// NULL and TF_INVALID_ARGUMENT if `len` is not the size of the type, and for types whose elements
// are no plain bytes.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType data_type,
                                                                      void* data, size_t len,
                                                                      TF_Status* status);

// Collective ops need other processes: TF_UNIMPLEMENTED.
TF_CAPI_EXPORT extern void TFE_EnableCollectiveOps(TFE_Context* ctx, const void* proto,
                                                   size_t proto_len, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_AbortCollectiveOps(TFE_Context* ctx, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_CollectiveOpsCheckPeerHealth(TFE_Context* ctx, const char* task,
                                                            int64_t timeout_in_ms,
                                                            TF_Status* status);

// --- Shapes of what an op would compute.

// `num_dims`: -1 for an unknown rank. `dims`: -1 for an unknown size; NULL where there is none.
struct TF_ShapeAndType {
  int num_dims;
  int64_t* dims;
  TF_DataType dtype;
};
typedef struct TF_ShapeAndType TF_ShapeAndType;
struct TF_ShapeAndTypeList {
  int num_items;
  TF_ShapeAndType* items;
};
typedef struct TF_ShapeAndTypeList TF_ShapeAndTypeList;

// A list of `num_shapes` shapes of rank 0 and of no type. NULL for a number below 0 or above 2^26.
TF_CAPI_EXPORT extern TF_ShapeAndTypeList* TF_NewShapeAndTypeList(int num_shapes);
// Set a shape, or the type, of one element. They do nothing for an index that is not in the list.
// The first does nothing either for a rank above 254, and for `dims` NULL with a rank above 0.
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList* shape_list, int index,
                                                       const int64_t* dims, int num_dims);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList* shape_list,
                                                              int index);
TF_CAPI_EXPORT extern void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList* shape_list, int index,
                                                       TF_DataType dtype);
// Delete a list, and an array of lists, made by C++'s new[], with the lists. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList* shape_list);
TF_CAPI_EXPORT extern void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList** shape_list_array,
                                                          int num_items);
// Infers the shapes of the outputs of an op, of which only the attributes count: types and numbers
// of inputs must be among these. `input_shapes` has a shape for each input. `input_tensors`, unless
// it is NULL, has a tensor, or NULL, for each input: its value is known. As in TensorFlow,
// `input_tensor_as_shapes` and `input_resource_shapes_and_types` are not read, and the shapes
// behind output resources are not written. Sets `*output_shapes` to a new list, which the caller
// deletes, or to NULL after an error; types in it are not set. An error of a NULL or deleted
// argument leaves `*output_shapes` as it was. Errors are those of the op's shape function;
// TF_INVALID_ARGUMENT for another number of shapes than inputs, and for a missing attribute that
// the function reads.
TF_CAPI_EXPORT extern void TFE_InferShapes(TFE_Op* op, TF_ShapeAndTypeList* input_shapes,
                                           TF_Tensor** input_tensors,
                                           TF_ShapeAndTypeList* input_tensor_as_shapes,
                                           TF_ShapeAndTypeList** input_resource_shapes_and_types,
                                           TF_ShapeAndTypeList** output_shapes,
                                           TF_ShapeAndTypeList*** output_resource_shapes_and_types,
                                           TF_Status* status);

// The graph, or the function, as text for people, in protobuf's form. The caller releases the text
// with free(). `*len` is its length in bytes, without the NUL; `len` may be NULL. The result is
// NULL when memory is short, and for an argument that is NULL or deleted. Of a graph that cannot be
// printed the text is the error.
TF_CAPI_EXPORT extern const char* TF_GraphDebugString(TF_Graph* graph, size_t* len);
TF_CAPI_EXPORT extern char* TF_FunctionDebugString(TF_Function* func, size_t* len);

// Whether an import refuses a node that asks for the device of a node ("loc:@NAME" in the attribute
// _class) which the GraphDef does not have. On at first.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions* opts, unsigned char enable);

// Takes a function out of the graph. Operations that call it stay, and can no longer run.
// TF_INVALID_ARGUMENT if there is no such function.
TF_CAPI_EXPORT extern void TF_GraphRemoveFunction(TF_Graph* g, const char* func_name,
                                                  TF_Status* status);

// Opens a plug-in and calls the entry points that it exports, in this order: SE_InitPlugin,
// TFNPD_InitPlugin and with it GetPjrtApi, TF_InitKernel, TF_InitGraph, TF_InitProfiler; GetPjrtApi
// last if the plug-in exports neither of the first two. What they register is published at the end,
// all of it or, after an error, nothing. A second call for a loaded plug-in calls no entry point
// and returns another handle. A call for a plug-in that failed returns the same error, but for
// TF_NOT_FOUND, after which it tries again.
//
// NULL on an error: TF_NOT_FOUND with the loader's words if the file cannot be opened, and for a
// name that is empty or NULL; TF_FAILED_PRECONDITION if the plug-in loads itself, needs the runtime
// of a sanitizer that the process lacks or leaves a required member unset, TF_INTERNAL if an entry
// point throws, TF_ALREADY_EXISTS if another load has meanwhile taken the name of one of its ops,
// else the status of the entry point that failed. Callable from any thread. Release the handle with
// the next function.
TF_CAPI_EXPORT extern TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename,
                                                                TF_Status* status);

// Releases the handle; the plug-in stays loaded. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_C_API_EXPERIMENTAL_H_
