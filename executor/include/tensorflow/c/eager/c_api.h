// Eager execution: runs one op at a time on tensors that exist.
//
// A context has devices, the state of kernels (variables, tables) and functions. A tensor handle
// refers to a tensor in the memory of one device. An op is described as in a graph, but its inputs
// are handles: TFE_NewOp, TFE_OpAddInput, TFE_OpSetAttr..., TFE_Execute.
//
// Threads. Any number of threads may use one context, and read one handle, at once. One thread at a
// time uses an op. Contexts are independent of each other, but for devices of plug-ins.
//
// Ownership. The caller deletes what functions named New, Copy, Resolve or Execute return. A handle
// may be deleted while ops use it. Handles and ops must not be used after the deletion of their
// context; where Tenon can see that an object is deleted, it says so and does nothing else.
//
// Errors come in `status`, which is TF_OK after a success. NULL where an object is needed is
// TF_INVALID_ARGUMENT; a function without a status then does nothing. A function that returns a
// pointer returns NULL after an error.
//
// Asynchronous execution. With an asynchronous executor (TFE_ContextOptionsSetAsync,
// TFE_NewExecutor) TFE_Execute returns handles whose values come later. Functions that need the
// value wait for it, and return the error of the op that failed to make it.
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

// `proto`: `proto_len` bytes of a serialized ConfigProto. Its intra_op_parallelism_threads,
// allow_soft_placement and log_device_placement count. TF_INVALID_ARGUMENT if it does not parse.
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options,
                                                       const void* proto, size_t proto_len,
                                                       TF_Status* status);

// What happens to an op with an input in the memory of another device than the op's. Handles of
// strings and resources, and inputs that a kernel wants in host memory, are no such case.
typedef enum TFE_ContextDevicePlacementPolicy {
  TFE_DEVICE_PLACEMENT_EXPLICIT = 0,          // the op fails with TF_INVALID_ARGUMENT
  TFE_DEVICE_PLACEMENT_WARN = 1,              // the input is copied, and a warning is written
  TFE_DEVICE_PLACEMENT_SILENT = 2,            // the input is copied; the default
  TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3,  // int32 is copied, other types fail
} TFE_ContextDevicePlacementPolicy;

// Not 0: ops of the context run on a thread of the executor, in the order of their calls. A thread
// may have an executor of its own (TFE_ContextSetExecutorForThread).
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options,
                                                      unsigned char enable);
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetDevicePlacementPolicy(
    TFE_ContextOptions* options, TFE_ContextDevicePlacementPolicy policy);

typedef struct TFE_Context TFE_Context;

// Makes a context with the host's device and those of the plug-ins that are loaded now, which stay
// loaded as long as the context.
TF_CAPI_EXPORT extern TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts,
                                                  TF_Status* status);
// Waits for ops that are queued. All handles and ops of the context must be deleted before.
TF_CAPI_EXPORT extern void TFE_DeleteContext(TFE_Context* ctx);

// Forgets prepared kernels, with the state that they keep from call to call: a random op with a
// seed then begins anew. Variables and tables stay.
TF_CAPI_EXPORT extern void TFE_ContextClearCaches(TFE_Context* ctx);

// The devices of the context, the host first; custom devices are not among them.
TF_CAPI_EXPORT extern TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status);

// The policy of this thread for this context, instead of that of the context's options. Ops that
// other threads execute are not affected.
TF_CAPI_EXPORT extern void TFE_ContextSetThreadLocalDevicePlacementPolicy(
    TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy);
TF_CAPI_EXPORT extern TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(
    TFE_Context* ctx);

// Would connect the context to other processes. TF_UNIMPLEMENTED: Tenon is one process.
TF_CAPI_EXPORT extern void TFE_ContextSetServerDef(TFE_Context* ctx, int keep_alive_secs,
                                                   const void* proto, size_t proto_len,
                                                   TF_Status* status);

// --- Tensor handles ---

typedef struct TFE_TensorHandle TFE_TensorHandle;

// A handle on the tensor, in host memory. Shares the memory of `t`, which the caller may delete but
// must not write to any more.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteTensorHandle(TFE_TensorHandle* h);
TF_CAPI_EXPORT extern TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h);

// These wait for the value. They return -1 after an error. TF_INVALID_ARGUMENT for a dimension that
// the tensor does not have.
TF_CAPI_EXPORT extern int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index,
                                                  TF_Status* status);

// The full name of the device of the op that makes the tensor, or to which it was copied. It lives
// as long as the process.
TF_CAPI_EXPORT extern const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h,
                                                             TF_Status* status);
// The full name of the device in whose memory the tensor is: kernels of a device may leave results
// in host memory. It lives as long as the process. Waits for the value.
TF_CAPI_EXPORT extern const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h,
                                                                    TF_Status* status);

// A new handle on the same memory.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h,
                                                                          TF_Status* status);

// The tensor in host memory. Waits for the value, and copies it if it is in the memory of another
// device. Else the result shares the handle's memory and must not be written to.
TF_CAPI_EXPORT extern TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status);

// A new handle on the tensor in the memory of the device (a full or partial name; NULL: the host).
// On the same device it shares the memory. TF_INVALID_ARGUMENT for an unknown device.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h,
                                                                     TFE_Context* ctx,
                                                                     const char* device_name,
                                                                     TF_Status* status);

// The layout of a tensor in its device's memory, as it was when the info was made: the tensor's own
// dimensions, in C order, on every device here. The caller deletes the info.
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

// An op, or a function of the context, to execute. TF_NOT_FOUND if there is neither. The op must be
// deleted before the context.
TF_CAPI_EXPORT extern TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name,
                                        TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteOp(TFE_Op* op);

// The name lives as long as the op.
TF_CAPI_EXPORT extern const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status);
TF_CAPI_EXPORT extern TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status);

// Asks for a device, by a full or partial name; "" and NULL ask for none. TF_INVALID_ARGUMENT for a
// malformed name. Whether the device exists is seen by TFE_Execute.
TF_CAPI_EXPORT extern void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status);
// The request, as TensorFlow writes it; "" if there is none. Valid until the op's device is set
// again or the op is deleted.
TF_CAPI_EXPORT extern const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status);

// Appends an input. An attribute of the op that says the input's type takes it from the handle,
// unless the attribute is set. TFE_OpAddInputList appends the inputs of one list, and so may set
// the list's length or types. Whether number and types are right is seen by TFE_Execute.
TF_CAPI_EXPORT extern void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs,
                                              TF_Status* status);

// The number of inputs that were added, and one of them. The handle belongs to the op; copy it with
// TFE_TensorHandleCopySharingTensor to keep it.
TF_CAPI_EXPORT extern int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status);
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int index,
                                                           TF_Status* status);

// The type of an attribute of the op; sets *is_list to 1 for a list and to 0 otherwise.
// TF_INVALID_ARGUMENT if the op has no such attribute; the result is TF_ATTR_INT then.
TF_CAPI_EXPORT extern TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name,
                                                    unsigned char* is_list, TF_Status* status);
// The same for the name of an op.
TF_CAPI_EXPORT extern TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx,
                                                        const char* op_or_function_name,
                                                        const char* attr_name,
                                                        unsigned char* is_list, TF_Status* status);

// Set an attribute, and copy the value. Of several values for one attribute the first counts, be it
// set here or taken from an input. Names and values are checked by TFE_Execute; an attribute that
// the op does not have is ignored there.
TF_CAPI_EXPORT extern void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value,
                                               size_t length);
TF_CAPI_EXPORT extern void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name,
                                             unsigned char value);
TF_CAPI_EXPORT extern void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value);
// A rank of -1 is unknown, `dims` may be NULL then; a dimension of -1 is unknown.
TF_CAPI_EXPORT extern void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name,
                                              const int64_t* dims, const int num_dims,
                                              TF_Status* out_status);
// The function with the name and the attributes of the op `value`.
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

// The number of tensors of an argument or a result, by its name in the OpDef, as far as inputs and
// attributes tell now. -1 and TF_INVALID_ARGUMENT for a name that the op does not have.
TF_CAPI_EXPORT extern int TFE_OpGetInputLength(TFE_Op* op, const char* input_name,
                                               TF_Status* status);
TF_CAPI_EXPORT extern int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name,
                                                TF_Status* status);

// Executes the op. `retvals` has room for *num_retvals handles, which must be at least the number
// of results; the call sets *num_retvals to that number and fills `retvals` with new handles. After
// an error both are as they were. Once the op's kernel has run, also if it failed, the op has no
// inputs any more; attributes and device stay.
TF_CAPI_EXPORT extern void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals,
                                       TF_Status* status);

// --- Functions ---

// Adds a function, given as a serialized FunctionDef, under its name. TF_INVALID_ARGUMENT if the
// bytes do not parse, or if an op or another function has the name. The same function may be added
// several times, and is then to be removed as often.
TF_CAPI_EXPORT extern void TFE_ContextAddFunctionDef(TFE_Context* ctx,
                                                     const char* serialized_function_def,
                                                     size_t size, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function,
                                                  TF_Status* status);
// TF_INVALID_ARGUMENT if the context has no such function. Ops that would execute a removed
// function fail, and so do ops that name it or a function that calls it.
TF_CAPI_EXPORT extern void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name,
                                                     TF_Status* status);
// 1 if the context has the function, else 0.
TF_CAPI_EXPORT unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name);

// --- Run metadata ---

// Between Enable and Disable the context notes what it executes. Export fills `buf`, whose data
// must be NULL, with a serialized RunMetadata of what was noted, and forgets it; it waits for ops
// that are queued.
TF_CAPI_EXPORT extern void TFE_ContextEnableRunMetadata(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextDisableRunMetadata(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextExportRunMetadata(TFE_Context* ctx, TF_Buffer* buf,
                                                        TF_Status* status);

// Brackets a step: objects that live for one step, such as a TensorArray, go when every step that
// was started has ended.
TF_CAPI_EXPORT extern void TFE_ContextStartStep(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextEndStep(TFE_Context* ctx);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_H_
