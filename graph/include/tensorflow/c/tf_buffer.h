// A block of bytes with its own deallocator: how serialized protobufs cross the interface.
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// Transparent: host and plug-in may both fill in the members. The side that deletes the buffer, or
// takes the data over, calls `data_deallocator(data, length)` once, on any thread. It does so for
// `data` NULL too. With a NULL deallocator the data is not freed. `data` NULL means no bytes,
// whatever `length` is.
//
// A function of the host that fills a buffer of the caller wants one with `data` NULL, else it
// reports TF_INVALID_ARGUMENT. Without memory for the bytes it reports TF_RESOURCE_EXHAUSTED. Both
// leave the buffer as it was. Else it sets all three members; `data` is then not NULL even for 0
// bytes.
typedef struct TF_Buffer {
  const void* data;
  size_t length;  // bytes
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

// A new buffer with a copy of `proto_len` bytes; NULL when there is no memory for the copy. `proto`
// NULL means 0 bytes. Release with TF_DeleteBuffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);

// A new buffer, all members zero; NULL when there is no memory for it. Release with
// TF_DeleteBuffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBuffer(void);

// Releases the data, if the buffer has a deallocator, and the buffer itself, which must come from
// the host: from one of the two functions above or from a function that returns a new buffer. NULL
// is allowed.
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer* buffer);

// The members by value. The data stays owned by `buffer`: the caller must not call the deallocator.
// All members are zero if `buffer` is NULL or deleted.
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_BUFFER_H_
