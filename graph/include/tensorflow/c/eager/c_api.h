// Eager execution: runs one op at a time on tensors that exist.
//
// A context has devices, the state of kernels (variables, tables) and functions. A tensor handle
// refers to a tensor in the memory of one device. An op is described as in a graph, but its inputs
// are handles: TFE_NewOp, TFE_OpAddInput, TFE_OpSetAttr..., TFE_Execute.
//
// Threads. Any number of threads may use one context, and read one handle, at once. One thread at a
// time uses an op. Contexts are independent of each other, but for devices of plug-ins.
//
// Ownership. The caller deletes the objects that functions named New, Copy, Resolve, Execute, List
// or DebugInfo return. A handle may be deleted while ops use it. Handles and ops must not be used
// after the deletion of their context. Where Tenon can see that an object is deleted, a call with
// it does nothing, and is TF_INVALID_ARGUMENT if it has a status.
//
// Errors come in `status`, which is TF_OK after a success and may be NULL. NULL where an object is
// needed is TF_INVALID_ARGUMENT; a function without a status then does nothing. A function that
// returns a pointer returns NULL after an error, one that returns a number -1 or 0.
//
// Asynchronous execution. With an asynchronous executor (TFE_ContextOptionsSetAsync,
// TFE_NewExecutor) TFE_Execute returns handles whose values come later. A function that needs the
// value of a handle waits for it. If the op that was to make the value failed, the function returns
// the error of that op.
#ifndef TENSORFLOW_C_EAGER_C_API_H_
#define TENSORFLOW_C_EAGER_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- Contexts ---

typedef struct TFE_ContextOptions TFE_ContextOptions;

// The options are copied by TFE_NewContext. One thread at a time uses them.
TF_CAPI_EXPORT extern TFE_ContextOptions* TFE_NewContextOptions(void);
TF_CAPI_EXPORT extern void TFE_DeleteContextOptions(TFE_ContextOptions* options);

// `proto`: `proto_len` bytes of a serialized ConfigProto. Only intra_op_parallelism_threads,
// allow_soft_placement and log_device_placement have an effect. TF_INVALID_ARGUMENT if the bytes do
// not parse.
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options,
                                                       const void* proto, size_t proto_len,
                                                       TF_Status* status);

// What happens if the kernel of an op wants an input in the memory of one device and the input is
// in the memory of another one. Strings, resources and variants are always in host memory and never
// copied.
typedef enum TFE_ContextDevicePlacementPolicy {
  TFE_DEVICE_PLACEMENT_EXPLICIT = 0,          // the op fails with TF_INVALID_ARGUMENT
  TFE_DEVICE_PLACEMENT_WARN = 1,              // the input is copied; a warning goes to stderr
  TFE_DEVICE_PLACEMENT_SILENT = 2,            // the input is copied; the default
  TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3,  // SILENT for int32, EXPLICIT for other types
} TFE_ContextDevicePlacementPolicy;

// `enable` other than 0: ops of the context run on the thread of the context's executor, in the
// order of their calls. A thread of the program may have an executor of its own
// (TFE_ContextSetExecutorForThread).
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options,
                                                      unsigned char enable);
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetDevicePlacementPolicy(
    TFE_ContextOptions* options, TFE_ContextDevicePlacementPolicy policy);

typedef struct TFE_Context TFE_Context;

// Makes a context with the host's device and the devices of all plug-ins that are loaded now. These
// plug-ins stay loaded as long as the context lives.
TF_CAPI_EXPORT extern TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts,
                                                  TF_Status* status);
// Waits for ops that are queued. All handles and ops of the context must be deleted before.
TF_CAPI_EXPORT extern void TFE_DeleteContext(TFE_Context* ctx);

// Drops prepared kernels, with the state that they keep from call to call: a random op with a seed
// then begins its sequence anew. Variables and tables stay.
TF_CAPI_EXPORT extern void TFE_ContextClearCaches(TFE_Context* ctx);

// The devices of the context, the host first; custom devices are not among them.
TF_CAPI_EXPORT extern TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status);

// The placement policy of the calling thread in this context, instead of the policy of the
// context's options. Ops that other threads execute are not affected.
TF_CAPI_EXPORT extern void TFE_ContextSetThreadLocalDevicePlacementPolicy(
    TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy);
TF_CAPI_EXPORT extern TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(
    TFE_Context* ctx);

// Always TF_UNIMPLEMENTED: in TensorFlow it connects the context to other processes.
TF_CAPI_EXPORT extern void TFE_ContextSetServerDef(TFE_Context* ctx, int keep_alive_secs,
                                                   const void* proto, size_t proto_len,
                                                   TF_Status* status);

// --- Tensor handles ---

typedef struct TFE_TensorHandle TFE_TensorHandle;

// A handle on the tensor, in host memory. The handle shares the memory of `t`. The caller may
// delete `t`, but must not write to its memory any more.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteTensorHandle(TFE_TensorHandle* h);
TF_CAPI_EXPORT extern TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h);

// These wait for the value. They return -1 after an error. TF_INVALID_ARGUMENT if the tensor has no
// dimension `dim_index` (counted from 0).
TF_CAPI_EXPORT extern int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index,
                                                  TF_Status* status);

// The full name of the device of the op that made or will make the tensor, or of the device to
// which the tensor was copied. The text lives as long as the process. Does not wait for the value.
TF_CAPI_EXPORT extern const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h,
                                                             TF_Status* status);
// The full name of the device in whose memory the tensor is. A kernel of a device may leave a
// result in host memory. The text lives as long as the process. Waits for the value. If there is
// none, as the op failed, the name is that of TFE_TensorHandleDeviceName, which is no error.
TF_CAPI_EXPORT extern const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h,
                                                                    TF_Status* status);

// A new handle on the same memory. Waits for the value.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h,
                                                                          TF_Status* status);

// The tensor in host memory. Waits for the value. A value in the memory of another device is
// copied. Otherwise the result may share the handle's memory: the caller must not write to it.
TF_CAPI_EXPORT extern TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status);

// A new handle on the tensor in the memory of the device. `device_name`: the full name, "GPU:0" or
// "/device:GPU:0"; of a custom device the full one; "" or NULL: the host. Waits for the value. If
// the tensor is in that memory already, the new handle shares it. TF_INVALID_ARGUMENT for an
// unknown device.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h,
                                                                     TFE_Context* ctx,
                                                                     const char* device_name,
                                                                     TF_Status* status);

// The layout of a tensor in the memory of its device, as it was when the info was made. On every
// device it has the tensor's own dimensions, in C order. TF_UNIMPLEMENTED for a custom device.
typedef struct TFE_TensorDebugInfo TFE_TensorDebugInfo;
TF_CAPI_EXPORT extern TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* h,
                                                                           TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info);
// -1 for NULL. OnDeviceDim returns -1 for a dimension that the tensor does not have.
TF_CAPI_EXPORT extern int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info);
TF_CAPI_EXPORT extern int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* debug_info,
                                                             int dim_index);

// --- Ops ---

typedef struct TFE_Op TFE_Op;

// Makes an op that executes the op or the function of the context with this name. TF_NOT_FOUND if
// there is neither. The op must be deleted before the context.
TF_CAPI_EXPORT extern TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name,
                                        TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteOp(TFE_Op* op);

// The name lives as long as the op.
TF_CAPI_EXPORT extern const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status);
TF_CAPI_EXPORT extern TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status);

// Asks for a device by a full or partial name, which begins with '/'. "" and NULL ask for no
// device. TF_INVALID_ARGUMENT if the name is malformed. TFE_Execute checks whether the device
// exists.
TF_CAPI_EXPORT extern void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status);
// The name of the device that the op asks for, in TensorFlow's spelling; "": none. The text is
// valid until the op's device is set again or the op is deleted.
TF_CAPI_EXPORT extern const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status);

// TFE_OpAddInput appends one input. If the OpDef has an attribute for the type of the argument and
// that attribute is not set, the call sets the attribute to the type of the handle. If the argument
// is a list, it sets no attribute, nor does a later call for the same op.
// TFE_OpAddInputList appends all inputs of an argument that is a list, and also sets the attributes
// for the length or the types of the list; TF_INVALID_ARGUMENT if the argument is no list, but the
// inputs are appended. TFE_Execute checks the number and the types of the inputs.
TF_CAPI_EXPORT extern void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs,
                                              TF_Status* status);

// The number of inputs that the op has, and input `index`. The handle belongs to the op: copy it
// with TFE_TensorHandleCopySharingTensor to keep it. The number is 0 after an error.
TF_CAPI_EXPORT extern int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status);
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int index,
                                                           TF_Status* status);

// The type of an attribute of the op; sets *is_list to 1 for a list and to 0 otherwise.
// TF_INVALID_ARGUMENT if the op has no such attribute; the result is TF_ATTR_INT then.
TF_CAPI_EXPORT extern TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name,
                                                    unsigned char* is_list, TF_Status* status);
// The same for an op or a function of the context by its name; TF_NOT_FOUND if there is neither.
TF_CAPI_EXPORT extern TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx,
                                                        const char* op_or_function_name,
                                                        const char* attr_name,
                                                        unsigned char* is_list, TF_Status* status);

// These set an attribute to a copy of the value. If an attribute gets several values, from these
// functions or from inputs, the first counts. TFE_Execute checks the values and ignores attributes
// that the op does not have. A function without a status does nothing if an argument is NULL or a
// length is negative.
TF_CAPI_EXPORT extern void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value,
                                               size_t length);
TF_CAPI_EXPORT extern void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name,
                                             unsigned char value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value);
// A num_dims below 0 means an unknown rank: `dims` may then be NULL. A dimension of -1 is unknown.
TF_CAPI_EXPORT extern void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name,
                                              const int64_t* dims, const int num_dims,
                                              TF_Status* out_status);
// Sets the attribute to the function, or op, that `value` executes, with the attributes of `value`.
TF_CAPI_EXPORT extern void TFE_OpSetAttrFunction(TFE_Op* op, const char* attr_name,
                                                 const TFE_Op* value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* attr_name,
                                                     const char* data, size_t length);
TF_CAPI_EXPORT extern void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor,
                                               TF_Status* status);
TF_CAPI_EXPORT extern void TFE_OpSetAttrStringList(TFE_Op* op, const char* attr_name,
                                                   const void* const* values, const size_t* lengths,
                                                   int num_values);
TF_CAPI_EXPORT extern void TFE_OpSetAttrIntList(TFE_Op* op, const char* attr_name,
                                                const int64_t* values, int num_values);
TF_CAPI_EXPORT extern void TFE_OpSetAttrFloatList(TFE_Op* op, const char* attr_name,
                                                  const float* values, int num_values);
TF_CAPI_EXPORT extern void TFE_OpSetAttrBoolList(TFE_Op* op, const char* attr_name,
                                                 const unsigned char* values, int num_values);
TF_CAPI_EXPORT extern void TFE_OpSetAttrTypeList(TFE_Op* op, const char* attr_name,
                                                 const TF_DataType* values, int num_values);
TF_CAPI_EXPORT extern void TFE_OpSetAttrShapeList(TFE_Op* op, const char* attr_name,
                                                  const int64_t** dims, const int* num_dims,
                                                  int num_values, TF_Status* out_status);
TF_CAPI_EXPORT extern void TFE_OpSetAttrFunctionList(TFE_Op* op, const char* attr_name,
                                                     const TFE_Op** value, int num_values);

// The number of tensors of the argument or result with this name in the OpDef, by the attributes
// that are set or inferred now. After an error -1: TF_INVALID_ARGUMENT if the op has no such name;
// TF_NOT_FOUND for a function, and while an attribute is not set that says the number of one of the
// arguments, or of the results.
TF_CAPI_EXPORT extern int TFE_OpGetInputLength(TFE_Op* op, const char* input_name,
                                               TF_Status* status);
TF_CAPI_EXPORT extern int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name,
                                                TF_Status* status);

// Executes the op. `retvals` has room for *num_retvals handles, which must be at least the number
// of results. Sets *num_retvals to the number of results and fills `retvals` with new handles.
// After an error *num_retvals is unchanged, and `retvals` has no handle for the caller to delete.
//
// Once its kernel was called or the op was handed to an asynchronous executor, also if that failed,
// the op has no inputs any more. After an earlier error, and on a custom device, the op keeps its
// inputs. Attributes and device stay in any case.
TF_CAPI_EXPORT extern void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals,
                                       TF_Status* status);

// --- Functions ---

// Adds a function under its own name, given as `size` bytes of a serialized FunctionDef or as a
// TF_Function, which stays the caller's. TF_INVALID_ARGUMENT if the bytes do not parse, or if an op
// or a different function has the name. The same function may be added several times; it goes when
// it was removed as often.
TF_CAPI_EXPORT extern void TFE_ContextAddFunctionDef(TFE_Context* ctx,
                                                     const char* serialized_function_def,
                                                     size_t size, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function,
                                                  TF_Status* status);
// Takes back one addition. TF_INVALID_ARGUMENT if the context has no such function. Later
// executions of a function that is gone fail, and so do those of ops and functions that call it.
TF_CAPI_EXPORT extern void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name,
                                                     TF_Status* status);
// 1 if the context has the function, else 0.
TF_CAPI_EXPORT unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name);

// --- Run metadata ---

// Between Enable and Disable the context notes the graph of each function, or op that calls
// functions, that it compiles, before and after the passes, and the times of its runs. A function
// is compiled when it is first executed with its attributes, types and device. Disable drops the
// notes, so call Export before. Export waits for queued ops, and returns the error of one that
// failed. Else it fills `buf` with the notes as a serialized RunMetadata, and drops them. If the
// data of `buf` is not NULL, Export is TF_INVALID_ARGUMENT, and the notes stay.
TF_CAPI_EXPORT extern void TFE_ContextEnableRunMetadata(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextDisableRunMetadata(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextExportRunMetadata(TFE_Context* ctx, TF_Buffer* buf,
                                                        TF_Status* status);

// Do nothing: in TensorFlow they bracket a step. An object that lives for one step, such as a
// TensorArray, goes here with the last handle on it.
TF_CAPI_EXPORT extern void TFE_ContextStartStep(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextEndStep(TFE_Context* ctx);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_H_
