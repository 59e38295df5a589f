// Kernels: how a plug-in computes an op on a device type.
//
// The plug-in exports TF_InitKernel, in which it makes a builder per kernel (op, device type, three
// functions), adds constraints and registers it. For each node that the kernel is chosen for, the
// host calls create_func once, compute_func for each execution and delete_func at the end.
//
// compute_func may be called on several threads at once with the same kernel object. On a device
// with streams it only enqueues work on TF_GetStream's stream; memory that it was given stays valid
// until that work is done. Functions on a TF_OpKernelContext are for the thread that runs
// compute_func, until it returns (asynchronous kernels: until the done callback is run).
#ifndef TENSORFLOW_C_KERNELS_H_
#define TENSORFLOW_C_KERNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/core/common_runtime/next_pluggable_device/c/tf_rendezvous_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;

// Tells the host that an asynchronous kernel has set its outputs. Exactly once per execution, on
// any thread; other hosts want it before compute_async_func returns.
TF_CAPI_EXPORT extern void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* arg);

// Exported by the plug-in: registers its kernels and ops. Called once, on the loading thread.
void TF_InitKernel(void);

// --- Registration. A builder belongs to one thread; strings are copied ---

// A kernel of `op_name` on device type `device_name` ("CPU", "GPU", a plug-in's, or "DEFAULT" for
// any). create_func's result, which may be NULL, is what the other two get. create_func and
// delete_func may be NULL.
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_func)(void*, TF_OpKernelContext*), void (*delete_func)(void*));

// The same for a kernel that says itself when it is done.
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*));

// The kernel serves only nodes whose attribute has this type; several constraints must all hold.
// TF_UNIMPLEMENTED for a type that cannot be a constraint (8-bit floats, 4- and 2-bit integers).
TF_CAPI_EXPORT extern void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder,
                                                           const char* attr_name, TF_DataType type,
                                                           TF_Status* status);

// The argument (input or output, by its name in the op) lives in host memory.
TF_CAPI_EXPORT extern void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder,
                                                       const char* arg_name);

// Of several kernels that fit, the highest number wins. Default 0.
TF_CAPI_EXPORT extern void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder,
                                                     int32_t priority_number);

// The kernel serves only nodes whose attribute "_kernel" is this label.
TF_CAPI_EXPORT extern void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder,
                                                  const char* label);

// Registers the kernel and takes the builder over. `kernel_name` is for people.
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilder(const char* kernel_name,
                                                    TF_KernelBuilder* builder, TF_Status* status);

// The same with a serialized KernelDef (NUL-terminated; NULL: as built) in place of the builder's.
// TF_INVALID_ARGUMENT if it does not parse.
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def,
                                                                 const char* name,
                                                                 TF_KernelBuilder* builder,
                                                                 TF_Status* status);

// For a builder that is not registered. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);

// --- Executing a node ---

// The plug-in's own handle of the stream for this device's kernels. NULL and
// TF_FAILED_PRECONDITION on devices without streams.
TF_CAPI_EXPORT extern SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);

TF_CAPI_EXPORT extern int TF_NumInputs(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int TF_NumOutputs(TF_OpKernelContext* ctx);

// A new handle on input `i`, which the caller deletes; NULL for an absent input. TF_OUT_OF_RANGE if
// there is no such input: *tensor is left alone.
TF_CAPI_EXPORT extern void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                                       TF_Status* status);

typedef struct {
  size_t struct_size;
  void* priv;
  int start;          // set: first flat index of the argument, -1 on error
  int stop;           // set: one past the last, -1 on error
  TF_Status* status;  // given by the caller
} TF_InputRange_Args;

#define TF_InputRange_Args_STRUCT_SIZE TF_OFFSET_OF_END(TF_InputRange_Args, status)

// Which inputs the op's argument `name` stands for.
TF_CAPI_EXPORT extern void TF_InputRange(TF_OpKernelContext* ctx, const char* name,
                                         TF_InputRange_Args* args);

// Type of input `index`, which must exist.
TF_CAPI_EXPORT extern TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);

// Makes `tensor`'s buffer output `i`; the caller keeps its handle. TF_OUT_OF_RANGE if there is no
// such output.
TF_CAPI_EXPORT extern void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor,
                                        TF_Status* status);

// A new handle on an output that was allocated before; NULL on error. The caller deletes it.
TF_CAPI_EXPORT extern TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i,
                                                     TF_Status* status);

// Serialized FunctionDefLibrary of the graph, ConfigProto of the session, ResourceHandleProto of
// input `i`, into an empty buffer (TF_INVALID_ARGUMENT if it is not).
TF_CAPI_EXPORT extern void TF_GetSerializedFunctionDefLibrary(
    TF_OpKernelContext* ctx, TF_Buffer* serialized_function_def_library, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx,
                                                       TF_Buffer* serialized_config_proto,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedResourceHandleProto(
    TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto, TF_Status* status);

// Fail the construction, the execution: the status reaches the user with the node's name. The first
// failure counts; the calling function goes on and should return.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx,
                                                           TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);

// Declared type of output `i`, which must exist.
TF_CAPI_EXPORT extern TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);

// Whether the argument is in host memory. TF_OUT_OF_RANGE and false if there is none.
TF_CAPI_EXPORT extern bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT extern bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// Number of the run that this execution is part of; frame and iteration inside loops, else 0.
TF_CAPI_EXPORT extern int64_t TF_StepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetStepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetIterId(TF_OpKernelContext* ctx);

// The n of /device:T:n, and the full device name.
TF_CAPI_EXPORT extern int TF_GetDeviceId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);

// The run's exchange of tensors between devices.
TF_CAPI_EXPORT TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx);

// Producer version of the graph.
TF_CAPI_EXPORT extern int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);

// Views owned by the host, valid as long as the kernel: the node's name, the default container of
// resources, the input string that the node was given ("a:1").
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx,
                                                                 size_t index);

// --- Constructing a kernel: only inside create_func ---

// Serialized NodeDef. The caller deletes it.
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx,
                                                                    TF_Status* status);

// How much an attribute holds; -1 where it has no such size.
//   list_size   elements of a list
//   total_size  bytes of a string or of all strings of a list; rank of a shape or of all in a list
// Unlike its siblings it does not reset `status`.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name,
                                                               int32_t* list_size,
                                                               int32_t* total_size,
                                                               TF_Status* status);

// Value of an attribute. TF_NOT_FOUND if the node has none of that name, TF_INVALID_ARGUMENT if it
// is of another kind (or out of range, for int32); *val is left alone then.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name,
                                                               TF_DataType* val, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx,
                                                                const char* attr_name, int32_t* val,
                                                                TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx,
                                                                const char* attr_name, int64_t* val,
                                                                TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx,
                                                                const char* attr_name, float* val,
                                                                TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name, TF_Bool* val,
                                                               TF_Status* status);

// At most `max_length` bytes, without a NUL.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx,
                                                                 const char* attr_name, char* val,
                                                                 size_t max_length,
                                                                 TF_Status* status);

// A new tensor, which the caller deletes.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx,
                                                                 const char* attr_name,
                                                                 TF_Tensor** val,
                                                                 TF_Status* status);

// Lists: at most `max_vals` elements. TF_INVALID_ARGUMENT if the attribute is no list of that kind.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx,
                                                                   const char* attr_name,
                                                                   TF_DataType* vals, int max_vals,
                                                                   TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx,
                                                                    const char* attr_name,
                                                                    int32_t* vals, int max_vals,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx,
                                                                    const char* attr_name,
                                                                    int64_t* vals, int max_vals,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx,
                                                                    const char* attr_name,
                                                                    float* vals, int max_vals,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx,
                                                                   const char* attr_name,
                                                                   TF_Bool* vals, int max_vals,
                                                                   TF_Status* status);

// The bytes go into `storage`; values[i] points into it, without a NUL, lengths[i] bytes long.
// TF_INVALID_ARGUMENT if `storage` is too small.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrStringList(
    TF_OpKernelConstruction* ctx, const char* attr_name, char** values, size_t* lengths,
    int max_values, void* storage, size_t storage_size, TF_Status* status);

// New tensors, which the caller deletes.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx,
                                                                     const char* attr_name,
                                                                     TF_Tensor** vals,
                                                                     int max_values,
                                                                     TF_Status* status);

// Serialized NameAttrList, which the caller deletes; NULL on error.
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

// `status` is left alone.
TF_CAPI_EXPORT extern bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx,
                                                           const char* attr_name,
                                                           TF_Status* status);

// The node's name; a view owned by the host.
TF_CAPI_EXPORT extern TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);

// --- Memory for a node. The caller deletes the returned handle; NULL on error ---

// Allocates output `index` where that output belongs (device or host). Type and byte count follow
// from the op and `dims`; `dtype` and `len` are not looked at.
TF_CAPI_EXPORT TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index,
                                            TF_DataType dtype, const int64_t* dims, int num_dims,
                                            size_t len, TF_Status* status);

// Reuses the buffer of the first candidate input that nothing else refers to and that fits (type,
// element count, memory) as the output; else allocates. *forwarded_input (may be NULL) is that
// input's index or -1. Handles that the kernel itself got from TF_GetInput count: delete them
// first.
TF_CAPI_EXPORT TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index, const int64_t* output_dims,
    int output_num_dims, int* forwarded_input, TF_Status* status);

// Scratch memory for this execution. `alloc_attrs` may be NULL.
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype,
                                                 const int64_t* dims, int num_dims,
                                                 TF_AllocatorAttributes* alloc_attrs,
                                                 TF_Status* status);

// Bracket work that goes on after compute_func has returned: the run is not over before every
// increment has its decrement. The latter may come from any thread.
TF_CAPI_EXPORT extern void TF_IncNumDeferredOps(TF_OpKernelContext* context);
TF_CAPI_EXPORT extern void TF_DecNumDeferredOps(TF_OpKernelContext* context);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_KERNELS_H_
