// Tensors: a dense array of one element type.
//
// A TF_Tensor is a handle: type, shape and a reference to a buffer. Several handles may share one
// buffer; deleting a handle gives back its reference. One thread at a time may use a handle.
// Handles on one buffer may be used and deleted on several threads at once, but nothing orders
// reads and writes of the bytes. For a tensor in device memory the address of the data is the
// device's: the host's code must not read or write there.
//
// Dimensions are in order from the outermost to the innermost; elements lie in row-major order
// without gaps. `dims` may be NULL if `num_dims` is 0. A `num_dims` below 0 or above 254 is refused
// as a negative dimension is.
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

// Where TF_AllocateTemp (kernels.h) takes memory from. Set struct_size to the macro below: 0 is an
// error.
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;  // 1: host memory, 0: memory of the kernel's device
} TF_AllocatorAttributes;

#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

typedef struct TF_Tensor TF_Tensor;

// A tensor around the caller's `len` bytes at `data`, which the call takes over in any case:
// `deallocator(data, len, deallocator_arg)` is called once when no tensor refers to the bytes any
// more, on the thread that drops the last reference. With a NULL deallocator the host frees
// nothing, and the bytes must outlive all tensors that refer to them. Data that is not aligned to
// TF_TensorDefaultAlignment() is copied, and released before the call returns; data of strings is
// never copied. The elements of a TF_STRING tensor are not freed by the host: the deallocator may
// do so.
//
// NULL if `len` is too small for the shape, if a dimension is negative, if the shape has more
// elements than a tensor may have, if `dtype` is no type or a reference type, if resources or
// variants have elements, if `data` is NULL and `len` is not 0, or when memory is short. The data
// is then released before the call returns.
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(
    TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
    void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg);

// The alignment in bytes of the tensor data that the host allocates in host memory: 64.
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);

// A tensor with `len` bytes of uninitialised host memory; `len` may exceed the bytes that the shape
// needs. A TF_STRING tensor gets room for its elements whatever `len` is, and the elements are
// empty strings. NULL if `len` is too small for the shape, if a dimension is negative, if the shape
// has more elements than a tensor may have, if `dtype` is no type or a reference type, or when
// memory is short.
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims,
                                                   int num_dims, size_t len);

// Asks whether the caller may overwrite the buffer. Returns `tensor` itself if the host allocated
// the buffer in host memory and no other handle or tensor of the host refers to it; else NULL. The
// caller still owns the handle, and deletes it once, in either case. NULL for an input of a kernel;
// TF_ForwardInputOrAllocateOutput (kernels.h) is for inputs. NULL for plain tensors under
// --abi-check=strict.
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

// Releases the handle, on any thread. NULL is allowed. With the last reference to a TF_STRING
// buffer that the host allocated, the elements are freed too. Deleting a handle twice is a fault,
// which is told on stderr and, within a callback of a plug-in, ends the process. If the handle has
// been given out again meanwhile, that tensor is deleted. Under --abi-check=strict the fault is
// reported instead.
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor* tensor);

TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor* tensor);

// Changes the shape of this handle; other handles on the buffer keep theirs. Does nothing if a
// dimension is negative or if the new shape has another number of elements.
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);

TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor* tensor);

// Size of dimension `dim_index`, counted from 0; -1 if there is none.
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);

// Bytes in the buffer, which may be more than the elements take; 0 if the tensor has no buffer.
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor* tensor);

// Address of the first element, valid while a handle on the buffer exists. May be NULL for a tensor
// without elements.
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor* tensor);

// Product of the dimensions; 1 for a scalar.
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);

// Makes `to` a handle on the buffer of `from`, with this type and shape, and drops the former
// reference of `to`. `from` does not change. On TF_INVALID_ARGUMENT `to` stays as it was: the
// elements of `from` and those of the new type and shape must take the same number of bytes,
// TF_DataTypeSize must not be 0 for either type, and no dimension may be negative.
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type,
                                                TF_Tensor* to, const int64_t* new_dims,
                                                int num_new_dims, TF_Status* status);

// Whether the address of the data is a multiple of TF_TensorDefaultAlignment(). Always true for
// TF_STRING and for device memory.
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor* tensor);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_TENSOR_H_
