// Kernels: how a plug-in computes an op on a device type.
//
// The plug-in exports TF_InitKernel, in which it makes a builder per kernel (op, device type, three
// functions), adds constraints and registers the builder. For each node for which the host chooses
// the kernel, it calls create_func, then compute_func for each execution, and delete_func at the
// end. Two threads that prepare one node at a time may make two kernel objects; one is deleted
// unused.
//
// compute_func may be called on several threads at once with the same kernel object. On a device
// with streams it only enqueues work on the stream of TF_GetStream. That work may use the memory of
// inputs, outputs and temporaries, also after compute_func has returned and handles are deleted.
// An execution that neither reports a failure nor sets or allocates each output fails with
// TF_INTERNAL. The functions must not throw; an exception fails the construction or the execution.
//
// A TF_OpKernelContext is valid until compute_func returns; for an asynchronous kernel until the
// done callback is run; and until the last TF_DecNumDeferredOps. Until then any thread may use it,
// one at a time. Several threads at once may call TF_OpKernelContext_Failure, TF_IncNumDeferredOps
// and TF_DecNumDeferredOps.
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

// Tells the host that an execution of an asynchronous kernel is complete: outputs are set, or a
// failure is reported. To be called exactly once per execution, on any thread; a further call does
// nothing. Without the call the run fails with TF_DEADLINE_EXCEEDED after its time limit. Other
// hosts want the call before compute_async_func returns.
TF_CAPI_EXPORT extern void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* arg);

// Exported by the plug-in: registers its kernels and ops. Called once while the library is mapped,
// on the thread that loads it. What it registers is published when the load succeeds.
void TF_InitKernel(void);

// --- Registration. A builder belongs to one thread; strings are copied ---

// A builder for a kernel of op `op_name` on devices of type `device_name`: "CPU", "GPU", the type
// of a plug-in, or "DEFAULT" for devices of any type for which no kernel of their own type fits.
// compute_func and delete_func get the result of create_func, which may be NULL. create_func may be
// NULL: the others then get NULL. delete_func may be NULL. After create_func has returned,
// delete_func is called once, even if create_func reported a failure.
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_func)(void*, TF_OpKernelContext*), void (*delete_func)(void*));

// The same for an asynchronous kernel: an execution is complete only when the kernel passes `done`
// to TF_RunAsyncOpKernelDoneCallback.
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*));

// Adds a constraint: the kernel serves only nodes of which the attribute `attr_name` has this type.
// All constraints must hold. TF_UNIMPLEMENTED, and no constraint, for a type that cannot be one:
// 8- and 4-bit floats, 4- and 2-bit integers, reference types and numbers that are no type.
// TF_INVALID_ARGUMENT for a NULL builder, TF_FAILED_PRECONDITION for one that is registered
// already. For such a builder the next three functions do nothing.
TF_CAPI_EXPORT extern void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder,
                                                           const char* attr_name, TF_DataType type,
                                                           TF_Status* status);

// All tensors of this argument (the op's name of an input or output) are in host memory. If the op
// has no such argument, each node for which the kernel is chosen fails with TF_INVALID_ARGUMENT.
// Strings, resources and variants are in host memory in any case.
TF_CAPI_EXPORT extern void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder,
                                                       const char* arg_name);

// Of several kernels that fit a node and device type, the one with the highest number serves.
// Default 0. At equal numbers a plug-in's kernel goes before one of the host, and of two plug-ins
// the user's options decide, then the order of registration; two kernels of one plug-in fail the
// node with TF_INVALID_ARGUMENT.
TF_CAPI_EXPORT extern void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder,
                                                     int32_t priority_number);

// The kernel serves only nodes of which the attribute "_kernel" is this label; without a label,
// nodes that lack the attribute. A second call replaces the label.
TF_CAPI_EXPORT extern void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder,
                                                  const char* label);

// Registers the kernel and takes the builder over, also on an error. `kernel_name` names the kernel
// in messages. TF_INVALID_ARGUMENT for a kernel without a compute function, TF_FAILED_PRECONDITION
// for a builder that is registered already. Whether the op exists is not checked.
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilder(const char* kernel_name,
                                                    TF_KernelBuilder* builder, TF_Status* status);

// The same, but a serialized KernelDef replaces op, device type, constraints, host memory, priority
// and label of the builder. Its bytes are read up to the first NUL, so a KernelDef that holds a NUL
// cannot be passed. TF_INVALID_ARGUMENT if the bytes do not parse, TF_UNIMPLEMENTED for a
// constraint on values other than types; the builder is deleted then. With NULL this is
// TF_RegisterKernelBuilder.
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def,
                                                                 const char* name,
                                                                 TF_KernelBuilder* builder,
                                                                 TF_Status* status);

// Deletes a builder that is not registered. Does nothing for a registered one and for NULL.
TF_CAPI_EXPORT extern void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);

// --- Executing a node ---

// The stream for kernels of this device: the handle that the plug-in's create_stream made. NULL and
// TF_FAILED_PRECONDITION on the CPU and on another device without streams, and in a call for which
// the host no longer waits.
TF_CAPI_EXPORT extern SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);

TF_CAPI_EXPORT extern int TF_NumInputs(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int TF_NumOutputs(TF_OpKernelContext* ctx);

// Sets *tensor to a new handle on input `i`, which the caller deletes. For an absent input sets
// *tensor to NULL and leaves `status` alone. For a reference the handle is on the variable's value.
// The kernel must not write to an input. *tensor is left alone on an error: TF_OUT_OF_RANGE if
// there is no input `i`, TF_INVALID_ARGUMENT if `tensor` is NULL, TF_FAILED_PRECONDITION if the
// input has no value, TF_DEADLINE_EXCEEDED if another kernel holds the variable of a reference for
// a minute.
TF_CAPI_EXPORT extern void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                                       TF_Status* status);

typedef struct {
  size_t struct_size;  // not looked at
  void* priv;          // not looked at
  int start;           // set by the call: index of the argument's first input; -1 on an error
  int stop;            // set by the call: index behind its last input; -1 on an error
  TF_Status* status;   // given by the caller; set by the call
} TF_InputRange_Args;

#define TF_InputRange_Args_STRUCT_SIZE TF_OFFSET_OF_END(TF_InputRange_Args, status)

// The inputs [start, stop) for which the op's argument `name` stands. args->status is
// TF_INVALID_ARGUMENT if the op has no such input argument.
TF_CAPI_EXPORT extern void TF_InputRange(TF_OpKernelContext* ctx, const char* name,
                                         TF_InputRange_Args* args);

// Type of input `index`. If there is no such input, the execution fails and the result is 0; other
// hosts abort. The same holds for TF_ExpectedOutputDataType.
TF_CAPI_EXPORT extern TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);

// Sets output `i` to the value of `tensor`, without a copy: both then share the buffer. The caller
// still deletes its handle. TF_OUT_OF_RANGE if there is no output `i`, TF_INVALID_ARGUMENT for a
// NULL tensor, TF_INTERNAL if the output is set or allocated already or is a reference (other hosts
// abort). TF_INTERNAL, and the execution fails, if the tensor has another type than the output.
TF_CAPI_EXPORT extern void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor,
                                        TF_Status* status);

// A new handle on output `i`, which was set or allocated before; the caller deletes the handle.
// NULL and TF_OUT_OF_RANGE if there is no output `i`, TF_FAILED_PRECONDITION if it is not set.
TF_CAPI_EXPORT extern TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i,
                                                     TF_Status* status);

// Fill an empty buffer of the caller with a serialized message: the FunctionDefLibrary of the
// graph, the ConfigProto of the session, the ResourceHandleProto of input `i`. TF_INVALID_ARGUMENT
// if the buffer is not empty or input `i` is no resource, TF_OUT_OF_RANGE if there is no input `i`.
TF_CAPI_EXPORT extern void TF_GetSerializedFunctionDefLibrary(
    TF_OpKernelContext* ctx, TF_Buffer* serialized_function_def_library, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx,
                                                       TF_Buffer* serialized_config_proto,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedResourceHandleProto(
    TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto, TF_Status* status);

// Fail the construction, or the execution, with a copy of `status`, which reaches the user with the
// node's name. The first failure counts; TF_OK does nothing. An execution's TF_UNAVAILABLE reaches
// the user as TF_INTERNAL. The call returns: the caller should then return from create_func or
// compute_func.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx,
                                                           TF_Status* status);
TF_CAPI_EXPORT extern void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);

// Declared type of output `i`.
TF_CAPI_EXPORT extern TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);

// Whether the kernel's input (output) `i` is declared to be in host memory, by the kernel or by the
// node's attribute _input_hostmem (_output_hostmem), or is a string or a resource. False for a
// variant that nobody declares, though its value is there. TF_OUT_OF_RANGE and false if there is no
// such input (output).
TF_CAPI_EXPORT extern bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT extern bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// TF_StepId and TF_GetStepId: the number of the run that this execution is part of. TF_GetFrameId
// and TF_GetIterId: the loop, and its iteration from 0 on; both 0 outside of loops.
TF_CAPI_EXPORT extern int64_t TF_StepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetStepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetIterId(TF_OpKernelContext* ctx);

// The n of /device:T:n, and the full device name, "/job:localhost/replica:0/task:0/device:T:n": a
// view owned by the host, valid as long as the kernel.
TF_CAPI_EXPORT extern int TF_GetDeviceId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);

// The exchange of tensors between devices within one run. This host has none: send and receive
// report TF_UNIMPLEMENTED, and an abort does nothing.
TF_CAPI_EXPORT TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx);

// Producer version of the graph.
TF_CAPI_EXPORT extern int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);

// Views owned by the host, valid as long as the kernel: the node's name; the default container of
// resources, "localhost"; the tensor that the node has as input `index`, "a:1". Control inputs are
// not counted; for an index out of range the view has NULL and length 0.
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx,
                                                                 size_t index);

// --- Constructing a kernel: only inside create_func ---
//
// An attribute's value is the node's, else the op's default.

// A new buffer with the serialized NodeDef, which the caller deletes; NULL when memory is short.
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx,
                                                                    TF_Status* status);

// The sizes of an attribute's value; -1 where it has no such size.
//   list_size   number of elements of a list; for a list of functions always 0
//   total_size  bytes of a string; sum of the bytes of a list of strings; rank of a shape, -1 if it
//               is unknown; sum of the ranks of a list of shapes, an unknown one as 0. -1 for an
//               empty list.
// TF_INVALID_ARGUMENT, and both sizes -1, if there is no such attribute; TF_INVALID_ARGUMENT, and
// sizes left alone, if the attribute has no value. Does not reset `status`: if the attribute is
// there and `status` already holds an error, both sizes are -1 and the error stays.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name,
                                                               int32_t* list_size,
                                                               int32_t* total_size,
                                                               TF_Status* status);

// Sets *val to the value of an attribute. On an error *val is left alone: TF_NOT_FOUND if there is
// no attribute `attr_name`, TF_INVALID_ARGUMENT if its value is of another kind, or for int32 out
// of range.
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

// Copies the first `max_length` bytes of the string, or all if it is shorter, to `val`, without a
// NUL. total_size of GetAttrSize tells the length. Errors as above.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx,
                                                                 const char* attr_name, char* val,
                                                                 size_t max_length,
                                                                 TF_Status* status);

// Sets *val to a new tensor, which the caller deletes; to NULL on an error. Errors as above, and
// TF_UNIMPLEMENTED for resources and variants.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx,
                                                                 const char* attr_name,
                                                                 TF_Tensor** val,
                                                                 TF_Status* status);

// Copy the first `max_vals` elements of a list, or all if there are fewer; list_size of GetAttrSize
// tells their number. TF_INVALID_ARGUMENT, and nothing is written, if there is no attribute
// `attr_name` or if it is no list of this kind; an empty list is one of any kind. The int32
// function cuts off the high bits of larger numbers, without an error.
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

// The first `max_values` strings of a list, or all if there are fewer: copies the bytes one string
// after another to `storage`, their address to values[i] and their number, without a NUL, to
// lengths[i]. TF_NOT_FOUND if there is no attribute `attr_name`. TF_INVALID_ARGUMENT if it is no
// list of strings, or if `storage` is too small: the strings that fit are written then.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrStringList(
    TF_OpKernelConstruction* ctx, const char* attr_name, char** values, size_t* lengths,
    int max_values, void* storage, size_t storage_size, TF_Status* status);

// Sets the first `max_values` elements of `vals`, or fewer if the list is shorter, to new tensors,
// which the caller deletes. TF_NOT_FOUND if there is no attribute `attr_name`, TF_INVALID_ARGUMENT
// if it is no list of tensors, TF_UNIMPLEMENTED for resources and variants. An error writes
// nothing.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx,
                                                                     const char* attr_name,
                                                                     TF_Tensor** vals,
                                                                     int max_values,
                                                                     TF_Status* status);

// A new buffer with the serialized NameAttrList of a function attribute, which the caller deletes;
// NULL on an error. TF_NOT_FOUND if there is no attribute `attr_name`, TF_INVALID_ARGUMENT if it is
// of another kind.
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

// Whether the node has the attribute, or the op a default for it. `status` is left alone.
TF_CAPI_EXPORT extern bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx,
                                                           const char* attr_name,
                                                           TF_Status* status);

// The node's name: a view owned by the host, valid as long as the kernel.
TF_CAPI_EXPORT extern TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);

// --- Memory for a node ---
//
// The caller deletes the returned handle, and may do so before the work that it has enqueued on the
// stream of TF_GetStream is done. On an error the result is NULL: TF_RESOURCE_EXHAUSTED when memory
// is short, TF_INVALID_ARGUMENT for negative dimensions, TF_FAILED_PRECONDITION for device memory
// in a call for which the host no longer waits.

// Allocates output `index`, with undefined contents, in host memory if TF_IsHostMemoryOutput or for
// a variant, else in the memory of the kernel's device. The type is the declared one of the output,
// and `dims` tell the size; `dtype` and `len` are not looked at. TF_INTERNAL if there is no such
// output, if it is set or allocated already, or if it is a reference.
TF_CAPI_EXPORT TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index,
                                            TF_DataType dtype, const int64_t* dims, int num_dims,
                                            size_t len, TF_Status* status);

// Lets output `output_index` take over the buffer of the first candidate input that fits, with the
// shape `output_dims` and the input's contents; if none fits, allocates the output as
// TF_AllocateOutput does. An input fits if it has the output's type, number of elements and memory
// (host or device), and if nothing else refers to its buffer; on a device without streams also only
// if it has the output's shape. A handle that the kernel got from TF_GetInput and has not deleted
// also refers to it. *forwarded_input, which may be NULL, becomes the index of the input that was
// taken, -1 if the output was allocated or on an error. Errors as above, and TF_OUT_OF_RANGE if a
// candidate is no input (other hosts abort).
TF_CAPI_EXPORT TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index, const int64_t* output_dims,
    int output_num_dims, int* forwarded_input, TF_Status* status);

// A temporary tensor with undefined contents, in the memory of the kernel's device, or on the host
// if alloc_attrs->on_host. `alloc_attrs` may be NULL: all its members count as 0.
// TF_INVALID_ARGUMENT also if its struct_size is 0, if `dtype` is no type or a reference type, and
// for strings and resources in the memory of a device.
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype,
                                                 const int64_t* dims, int num_dims,
                                                 TF_AllocatorAttributes* alloc_attrs,
                                                 TF_Status* status);

// Bracket work that goes on after compute_func has returned. The first function is called before
// compute_func returns, or the done callback is run; the second, on any thread, when the work is
// done. The execution is not complete, and the context stays valid, before every increment has its
// decrement. If one stays out, the run fails with TF_DEADLINE_EXCEEDED after its time limit.
TF_CAPI_EXPORT extern void TF_IncNumDeferredOps(TF_OpKernelContext* context);
TF_CAPI_EXPORT extern void TF_DecNumDeferredOps(TF_OpKernelContext* context);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_KERNELS_H_
