// Variables and variants for kernels of plug-ins. All functions run inside compute_func.
//
// Callbacks own the tensors that they are handed and delete them. copyFunc copies source to dest on
// the device of the kernel. A variable may share its buffer with the value that was assigned to it;
// it is copied before it is changed. "Sparse" access asks for a buffer of the variable's own from
// then on.
#ifndef TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_
#define TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

// Locks on the variables among a kernel's inputs.
typedef struct TF_VariableInputLockHolder TF_VariableInputLockHolder;

// Assigns input `value_index` to the variable behind resource input `input_index`, made if it does
// not exist. With validate_shape a change of shape fails the execution (not `status`).
TF_CAPI_EXPORT extern void TF_AssignVariable(TF_OpKernelContext* ctx, int input_index,
                                             int value_index, bool validate_shape,
                                             void (*copyFunc)(TF_OpKernelContext* ctx,
                                                              TF_Tensor* source, TF_Tensor* dest),
                                             TF_Status* status);

// The same for a variable behind a reference input; the reference becomes the output.
TF_CAPI_EXPORT extern void TF_AssignRefVariable(
    TF_OpKernelContext* ctx, int input_ref_index, int output_ref_index, int value_index,
    bool use_locking, bool validate_shape,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_Status* status);

// updateFunc(ctx, variable, value, Op) under the variable's lock; Op is the caller's own code. The
// shapes must be equal, else the execution fails.
TF_CAPI_EXPORT extern void TF_AssignUpdateVariable(
    TF_OpKernelContext* ctx, int input_index, int value_index, int Op, int isVariantType,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    void (*updateFunc)(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_Tensor* value, int Op),
    TF_Status* status);

// Makes a variable that lives for this run and sets it as reference output 0. plugin_allocator
// makes the given tensor point at memory. `var_name` is NUL-terminated.
TF_CAPI_EXPORT extern void TF_TemporaryVariable(
    TF_OpKernelContext* ctx, TF_DataType dtype, const int64_t* dims, int num_dims,
    TF_StringView* var_name,
    void (*plugin_allocator)(TF_OpKernelContext*, TF_Tensor*, TF_DataType, const int64_t*, int,
                             TF_Status*),
    TF_Status* tf_status);

// Sets output 0 to the value of reference input 0 and drops the variable. `index` is not looked at.
TF_CAPI_EXPORT extern void TF_DestroyTemporaryVariable(TF_OpKernelContext* ctx, const int index,
                                                       TF_StringView* var_name,
                                                       TF_Status* tf_status);

// Locks the variables behind `inputs`, each once and in one global order: exclusively with
// do_lock, shared without. *lockHolder ends with TF_ReleaseVariableInputLockHolder.
TF_CAPI_EXPORT extern void TF_MaybeLockVariableInputMutexesInOrder(
    TF_OpKernelContext* ctx, bool do_lock, bool sparse, const int* const inputs, size_t len,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_VariableInputLockHolder** lockHolder, TF_Status* status);

// A new handle on the tensor of the variable behind `input`, ready to be changed; the caller
// deletes it. lock_held says that the caller has the lock.
TF_CAPI_EXPORT extern void TF_GetInputTensorFromVariable(
    TF_OpKernelContext* ctx, int input, bool lock_held, bool isVariantType, bool sparse,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest), TF_Tensor** out,
    TF_Status* status);

// Nothing to do for resource inputs.
TF_CAPI_EXPORT extern void TF_OpKernelContext_ForwardRefInputToRefOutput(TF_OpKernelContext* ctx,
                                                                         int32_t input_index,
                                                                         int32_t output_index);

// Unlocks and frees. NULL is allowed.
TF_CAPI_EXPORT extern void TF_ReleaseVariableInputLockHolder(
    TF_VariableInputLockHolder* lockHolder);

// A new handle on the input of that name in the op; the caller deletes it.
TF_CAPI_EXPORT extern void TF_GetInputByName(TF_OpKernelContext* ctx, const char* inputName,
                                             TF_Tensor** tensor, TF_Status* status);

// The dimensions of a shape attribute. TF_INVALID_ARGUMENT if its rank is not `num_dims`.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorShape(TF_OpKernelConstruction* ctx,
                                                                      const char* attr_name,
                                                                      int64_t* dims,
                                                                      size_t num_dims,
                                                                      TF_Status* status);

// TF_OUT_OF_RANGE and false if there is no input `i`.
TF_CAPI_EXPORT extern bool TF_IsRefInput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// The whole of AddN, of ZerosLike, for variants (tensor lists, optionals), given the function for
// the tensors inside: out = a + b, out = 0.
TF_CAPI_EXPORT extern void TF_AddNVariant(TF_OpKernelContext* ctx,
                                          void (*binary_add_func)(TF_OpKernelContext* ctx,
                                                                  TF_Tensor* a, TF_Tensor* b,
                                                                  TF_Tensor* out),
                                          TF_Status* status);
TF_CAPI_EXPORT extern void TF_ZerosLikeVariant(TF_OpKernelContext* ctx,
                                               void (*zeros_like_func)(TF_OpKernelContext* ctx,
                                                                       TF_Tensor* input,
                                                                       TF_Tensor* out),
                                               TF_Status* status);

typedef struct TF_CoordinationServiceAgent TF_CoordinationServiceAgent;

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_
