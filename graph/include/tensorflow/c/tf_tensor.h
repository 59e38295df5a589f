// Tensors: a dense array of one element type.
//
// A TF_Tensor is a handle. Several handles may share one reference-counted buffer; deleting a
// handle gives back its reference. A handle is not thread-safe, its buffer's count is. Data of a
// tensor on a device is a device address: only the device's own code may look behind it.
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where TF_AllocateTemp (kernels.h) takes memory from. Set struct_size to the macro below.
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;  // 1: host memory even when the kernel runs on a device
} TF_AllocatorAttributes;

#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

typedef struct TF_Tensor TF_Tensor;

// A tensor around the caller's `len` bytes at `data`. `deallocator(data, len, deallocator_arg)` is
// called once when nothing refers to them any more, on whatever thread that happens. Data of a
// plain type that is not aligned to TF_TensorDefaultAlignment() is copied and released at once.
// NULL if `len` is too small for the shape (the data is released then too).
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(
    TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
    void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg);

// Bytes to which the host aligns tensor data: 64.
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);

// A tensor with `len` bytes of uninitialised host memory (`len` may exceed what the shape needs).
// Elements of a TF_STRING tensor start as empty strings.
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims,
                                                   int num_dims, size_t len);

// `tensor` itself if nothing else refers to its buffer and the host allocated it, else NULL. The
// handle is not consumed in either case.
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

// Releases the handle. NULL is allowed. The last handle of a host-allocated TF_STRING tensor also
// frees its elements.
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor* tensor);

TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor* tensor);

// Changes the shape in place; the element count must stay what it was.
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);

TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor* tensor);

// Size of dimension `dim_index`, 0 <= dim_index < TF_NumDims(tensor).
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);

// Bytes in the buffer.
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor* tensor);

// The first element; valid while a handle on the buffer exists.
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor* tensor);

// Product of the dimensions; 1 for a scalar.
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);

// Makes `to` a view of `from`'s buffer with another type and shape. Both must describe the same
// number of bytes and neither type may be of size 0, else TF_INVALID_ARGUMENT.
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type,
                                                TF_Tensor* to, const int64_t* new_dims,
                                                int num_new_dims, TF_Status* status);

// Whether the data is aligned to TF_TensorDefaultAlignment().
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor* tensor);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_TENSOR_H_
