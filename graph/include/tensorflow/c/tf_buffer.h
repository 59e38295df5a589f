// A block of bytes with its own deallocator: how serialized protobufs cross the interface.
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// Transparent: either side may fill one in. Whoever deletes or consumes the buffer calls
// `data_deallocator(data, length)` unless it is NULL. Functions that write into a caller's buffer
// refuse one whose `data` is not NULL.
typedef struct TF_Buffer {
  const void* data;
  size_t length;  // bytes
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

// A new buffer holding a copy of `proto_len` bytes. Release with TF_DeleteBuffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);

// A new buffer, all members zero. Release with TF_DeleteBuffer.
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBuffer(void);

// Releases the data (if it has a deallocator) and the buffer object. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer* buffer);

// The members by value. The data stays owned by `buffer`.
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_BUFFER_H_
