// The few functions of PJRT that kernels need, with the table of the reference plug-in.
#ifndef TENON_PLUGIN_NEXT_DEVICE_PJRT_H_
#define TENON_PLUGIN_NEXT_DEVICE_PJRT_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/tf_status.h"
#include "xla/pjrt/c/pjrt_c_api_types.h"

// The table, or NULL if the reference plug-in is not beside this library.
const PJRT_Api* ReferenceApi(void);

// The three functions below need the table: ReferenceApi must not be NULL. They set `status` on an
// error only, so that it must hold TF_OK before.

// Copies `size` bytes from a buffer, and waits for that.
void ReadBuffer(PJRT_Buffer* buffer, void* to, size_t size, TF_Status* status);
// A new buffer of floats on device `ordinal` of the client, TF_NOT_FOUND if there is no such
// device. NULL on an error.
PJRT_Buffer* MakeFloatBuffer(PJRT_Client* client, int ordinal, const float* data,
                             const int64_t* dims, size_t rank, TF_Status* status);
// A new buffer with the same contents on the same device. NULL on an error.
PJRT_Buffer* CopyBuffer(PJRT_Buffer* buffer, TF_Status* status);

// An option of a client: a number, laid out as PJRT_NamedValue.
typedef struct CountOption {
  size_t struct_size;
  void* extensions;
  const char* name;
  size_t name_size;
  int type;  // 1: an int64
  int64_t value;
  size_t value_size;
} CountOption;
// The option for the number of devices. Its name is static text.
CountOption DeviceCountOption(int count);

#endif  // TENON_PLUGIN_NEXT_DEVICE_PJRT_H_
