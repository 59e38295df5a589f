// Variables and variants for kernels of plug-ins. The functions on a TF_OpKernelContext are for its
// lifetime (kernels.h), GetAttrTensorShape is for create_func.
//
// A variable is behind an input of type resource or of a reference type (legacy variables). Inputs
// and outputs are counted from 0. A function that uses a variable waits for kernels that hold the
// variable's lock, for a minute at most: TF_DEADLINE_EXCEEDED. It does not wait for a lock of the
// same execution.
//
// Callbacks own the tensors that they are handed, and delete each with TF_DeleteTensor. copyFunc
// copies the bytes of `source` to `dest`, which has the same type and shape, on the kernel's
// device; on a device with streams it only enqueues the copy. It reports an error by
// TF_OpKernelContext_Failure. The host copies strings and variants itself. On the CPU copyFunc may
// be NULL; on another device a copy without it is TF_INVALID_ARGUMENT.
//
// An assigned variable shares the buffer of the assigned value, without a copy. Before a kernel
// changes the variable in place, the host gives it a buffer of its own, by copyFunc if another
// tensor shares the buffer. With `sparse`, which says that the kernel changes only parts of the
// variable, the variable keeps a buffer of its own from then on: a later assignment copies.
//
// Where no comment says otherwise, an error is set in `status` and also fails the execution. A NULL
// `out`, `lockHolder`, `inputs` or `dims` is an error in `status` only.
#ifndef TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_
#define TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

// Locks on variables among a kernel's inputs. Owned by the host. Locks that the kernel does not
// release end with the execution, with a warning.
typedef struct TF_VariableInputLockHolder TF_VariableInputLockHolder;

// Assigns input `value_index` to the variable behind resource input `input_index`. The first
// assignment initializes the variable. An error fails the execution only, and leaves the variable
// as it was; `status` is always TF_OK. TF_INVALID_ARGUMENT if the variable has a value of another
// type or, with validate_shape, of another shape.
TF_CAPI_EXPORT extern void TF_AssignVariable(TF_OpKernelContext* ctx, int input_index,
                                             int value_index, bool validate_shape,
                                             void (*copyFunc)(TF_OpKernelContext* ctx,
                                                              TF_Tensor* source, TF_Tensor* dest),
                                             TF_Status* status);

// The same for the variable behind reference input `input_ref_index`, but copyFunc always copies
// the value. Output `output_ref_index` becomes the reference, also where the assignment then fails.
// `use_locking` is not looked at: the host locks.
TF_CAPI_EXPORT extern void TF_AssignRefVariable(
    TF_OpKernelContext* ctx, int input_ref_index, int output_ref_index, int value_index,
    bool use_locking, bool validate_shape,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_Status* status);

// Calls updateFunc(ctx, variable, value, Op) under the variable's lock. `variable` is a handle on
// the variable's buffer, to be changed in place, and `value` one on input `value_index`. `Op` is a
// number of the caller. isVariantType not 0: the host copies, not copyFunc. An error fails the
// execution only; `status` is always TF_OK. TF_NOT_FOUND if a variable has no value yet,
// TF_FAILED_PRECONDITION for one behind a reference; TF_INVALID_ARGUMENT if types or shapes of
// variable and value differ, or updateFunc is NULL.
TF_CAPI_EXPORT extern void TF_AssignUpdateVariable(
    TF_OpKernelContext* ctx, int input_index, int value_index, int Op, int isVariantType,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    void (*updateFunc)(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_Tensor* value, int Op),
    TF_Status* status);

// Makes a variable, which lives while a reference to it does, and sets output 0, which must be a
// reference, to it. Calls plugin_allocator(ctx, tensor, dtype, dims, num_dims, status), which must
// make `tensor` a tensor of this type and shape, as by TF_TensorBitcastFrom from one of
// TF_AllocateTemp. It does not own `tensor` and must not delete it. TF_INTERNAL if `tensor` has no
// or another type or shape afterwards. `var_name->data` is NUL-terminated; `len` is not looked at.
TF_CAPI_EXPORT extern void TF_TemporaryVariable(
    TF_OpKernelContext* ctx, TF_DataType dtype, const int64_t* dims, int num_dims,
    TF_StringView* var_name,
    void (*plugin_allocator)(TF_OpKernelContext*, TF_Tensor*, TF_DataType, const int64_t*, int,
                             TF_Status*),
    TF_Status* tf_status);

// Moves the value of the temporary variable behind reference input 0 to output 0; the variable then
// has no value. `index` is not looked at. TF_NOT_FOUND if the variable has another name than
// `var_name`, TF_INVALID_ARGUMENT if input 0 is no reference to a variable.
TF_CAPI_EXPORT extern void TF_DestroyTemporaryVariable(TF_OpKernelContext* ctx, const int index,
                                                       TF_StringView* var_name,
                                                       TF_Status* tf_status);

// Locks the variables behind the `len` inputs in `inputs`, a variable with several inputs once, in
// an order that all kernels share, so that kernels cannot wait for each other. Locks exclusively,
// but with `sparse` and without do_lock so that other such kernels may run at the same time.
// Without do_lock, references alone are not locked. With `sparse` also gives each variable behind a
// resource a buffer of its own.
//
// Release *lockHolder with TF_ReleaseVariableInputLockHolder. On an error it is NULL and nothing is
// locked: TF_FAILED_PRECONDITION if this execution has locked one of the variables already. With
// `sparse` also TF_NOT_FOUND if a variable behind a resource has no value.
TF_CAPI_EXPORT extern void TF_MaybeLockVariableInputMutexesInOrder(
    TF_OpKernelContext* ctx, bool do_lock, bool sparse, const int* const inputs, size_t len,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_VariableInputLockHolder** lockHolder, TF_Status* status);

// Sets *out to a new handle on the buffer of the variable behind input `input`, which no other
// tensor shares: the kernel may change it in place. The caller deletes the handle. isVariantType:
// the host copies, not copyFunc. `lock_held` is not looked at: the host knows the locks of the
// execution, and locks the variable during the call where there is none. On an error *out is NULL.
// A variable without a value is an error, as of TF_AssignUpdateVariable. `status` is the first
// error of the execution: after an earlier error it is set although *out may be a handle.
TF_CAPI_EXPORT extern void TF_GetInputTensorFromVariable(
    TF_OpKernelContext* ctx, int input, bool lock_held, bool isVariantType, bool sparse,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest), TF_Tensor** out,
    TF_Status* status);

// Makes output `output_index` the reference that input `input_index` is. Does nothing for a
// resource. An index out of range, an input or output that is no reference, or an output that is
// set already fails the execution.
TF_CAPI_EXPORT extern void TF_OpKernelContext_ForwardRefInputToRefOutput(TF_OpKernelContext* ctx,
                                                                         int32_t input_index,
                                                                         int32_t output_index);

// Releases the locks; the holder must not be used afterwards. NULL is allowed.
TF_CAPI_EXPORT extern void TF_ReleaseVariableInputLockHolder(
    TF_VariableInputLockHolder* lockHolder);

// Does what TF_GetInput does for the input that the op names `inputName`. TF_INVALID_ARGUMENT if
// there is none, or if the argument is a list of more or fewer tensors than one. An error does not
// fail the execution.
TF_CAPI_EXPORT extern void TF_GetInputByName(TF_OpKernelContext* ctx, const char* inputName,
                                             TF_Tensor** tensor, TF_Status* status);

// Copies the dimensions of a shape attribute to `dims`, which has room for `num_dims`; -1 for an
// unknown size. On an error `dims` is left alone: TF_INVALID_ARGUMENT if the rank is unknown or not
// `num_dims` or if the attribute is no shape, TF_NOT_FOUND if there is no attribute `attr_name`. An
// error does not fail the construction.
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorShape(TF_OpKernelConstruction* ctx,
                                                                      const char* attr_name,
                                                                      int64_t* dims,
                                                                      size_t num_dims,
                                                                      TF_Status* status);

// Whether input `i` has a reference type. TF_OUT_OF_RANGE and false if there is no input `i`; the
// execution does not fail.
TF_CAPI_EXPORT extern bool TF_IsRefInput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// Compute all of AddN, or of ZerosLike, on scalar inputs of type variant (tensor lists, optionals),
// and set output 0. The callback computes out = a + b, or out = 0, on tensors within the variants;
// it is called for each of them, with tensors in the memory of the kernel's device, and may only
// enqueue work on the kernel's stream. `out` has type and shape of `a`, or of `input`. TF_INTERNAL
// if an input is no variant, TF_INVALID_ARGUMENT if it is no scalar or the callback is NULL.
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

// See next_pluggable_device/c_api.h.
typedef struct TF_CoordinationServiceAgent TF_CoordinationServiceAgent;

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_
