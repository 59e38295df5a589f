// Devices that bring a PJRT client ("next pluggable devices").
//
// The plug-in exports TFNPD_InitPlugin and GetPjrtApi. The host takes memory and copies from the
// PJRT table: of the functions below it calls GetDeviceCount, InitPluginInternalDeviceStates and
// SameDevicePjRtBufferCopy, and all others may be NULL. Without GetPjrtApi, or where that returns
// NULL, the plug-in has no devices of this kind; its other entry points are called all the same.
//
// A tensor of such a device has an odd data pointer, behind which there is no memory:
// TF_GetPjRtCBuffer (tensorflow/c/experimental/next_pluggable_device/c_api.h) gives its buffer. A
// new output or temporary has none until the kernel sets one by TF_CreatePjRtBuffer.
#ifndef TENSORFLOW_CORE_COMMON_RUNTIME_NEXT_PLUGGABLE_DEVICE_C_PLUGIN_C_API_H_
#define TENSORFLOW_CORE_COMMON_RUNTIME_NEXT_PLUGGABLE_DEVICE_C_PLUGIN_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "xla/c/c_api_decl.h"
#include "xla/pjrt/c/pjrt_c_api_types.h"

#define TFNPD_MAJOR 0
#define TFNPD_MINOR 0
#define TFNPD_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

// A shape in XLA's C form; only passed through.
typedef struct XLA_Shape XLA_Shape;

// --- Events ---
//
// NewDeviceEvent makes an event, which DeviceEventDelete deletes. DeviceEventAwait blocks and sets
// `status` to the error of the event's work. DeviceEventIsReady does not block. DeviceEventAndThen
// calls callback(callback_arg) once, when the event is ready.

typedef struct TFNPD_DeviceEvent TFNPD_DeviceEvent;
typedef TFNPD_DeviceEvent* TFNPD_NewDeviceEvent(void);
typedef void TFNPD_DeviceEventAwait(TFNPD_DeviceEvent* event, TF_Status* status);
typedef bool TFNPD_DeviceEventIsReady(TFNPD_DeviceEvent* event);
typedef void TFNPD_DeviceEventAndThen(TFNPD_DeviceEvent* event, void (*callback)(void*),
                                      void* callback_arg);
typedef void TFNPD_DeviceEventDelete(TFNPD_DeviceEvent* event);

// --- Memory of a device ---
//
// Devices are counted from 0. Sizes and alignment are in bytes. DeviceAllocateRaw returns NULL when
// memory is short. The allocator's name lives as long as the allocator.

typedef struct TFNPD_DeviceAllocator TFNPD_DeviceAllocator;
typedef TFNPD_DeviceAllocator* TFNPD_DeviceAllocatorCreate(int device_ordinal);
typedef void* TFNPD_DeviceAllocateRaw(TFNPD_DeviceAllocator* allocator, size_t alignment,
                                      size_t num_bytes);
typedef void TFNPD_DeviceDeallocateRaw(TFNPD_DeviceAllocator* allocator, void* ptr);
typedef TF_StringView TFNPD_DeviceAllocatorName(TFNPD_DeviceAllocator* allocator);
typedef bool TFNPD_DeviceAllocatorAllocatesOpaqueHandle(TFNPD_DeviceAllocator* allocator);
typedef void TFNPD_DeviceAllocatorDelete(TFNPD_DeviceAllocator* allocator);

// --- Copies ---
//
// A copy may go on after the call. The returned event is ready when the copy is done; the caller
// deletes it. The tensors stay valid until then.

typedef struct TFNPD_DeviceContext TFNPD_DeviceContext;
typedef TFNPD_DeviceContext* TFNPD_DeviceContextCreate(int device_ordinal);
typedef void TFNPD_DeviceContextDelete(TFNPD_DeviceContext* context);
typedef TFNPD_DeviceEvent* TFNPD_DeviceTensorToHostTensor(TFNPD_DeviceContext* device_context,
                                                          const TF_Tensor* device_tensor,
                                                          TF_Tensor* cpu_tensor, TF_Status* status);
typedef TFNPD_DeviceEvent* TFNPD_HostTensorToDeviceTensor(TFNPD_DeviceContext* device_context,
                                                          const TF_Tensor* cpu_tensor,
                                                          TF_Tensor* device_tensor,
                                                          TF_Status* status);
typedef TFNPD_DeviceEvent* TFNPD_SameDeviceTensorCopy(TFNPD_DeviceContext* context);
typedef PJRT_Buffer* TFNPD_SameDevicePjRtBufferCopy(PJRT_Buffer* src_buffer, PJRT_Client* c_client,
                                                    TF_Status* status);

// --- Shapes and set-up ---

typedef void TFNPD_XlaShapeToDeviceShapeRepresentation(XLA_Shape* serialized_xla_shape,
                                                       int data_type, bool use_fast_memory,
                                                       XLA_LayoutPreference layout_preference,
                                                       XLA_Shape* serialized_device_shape,
                                                       TF_Status* tf_status);

// The number of devices; 0 is legal. With an error, a negative number or one above 1024 the plug-in
// has no devices. The host may call it many times, also before
// TFNPD_InitPluginInternalDeviceStates.
typedef int32_t TFNPD_GetDeviceCount(TF_Status* status);

// Called once, before the first device is made, also where there are 0 devices. An error drops all
// that the plug-in has brought. The plug-in may create its PJRT client there, or in TF_InitKernel,
// by TF_CreateAndSetPjRtCApiClient; else the host creates the client when the host needs one.
typedef void TFNPD_InitPluginInternalDeviceStates(TF_Status* status);

// The table that TFNPD_InitPlugin returns, in static storage of the plug-in. Each member has the
// name of its type, which C++ allows only if the type's name is qualified.
#ifdef __cplusplus
#define TFNPD_API_STRUCT_FN(fn_type) ::fn_type* fn_type
#else
#define TFNPD_API_STRUCT_FN(fn_type) fn_type* fn_type
#endif

typedef struct TFNPD_Api {
  size_t struct_size;
  void* priv;
  TFNPD_API_STRUCT_FN(TFNPD_NewDeviceEvent);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceEventAwait);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceEventIsReady);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceEventAndThen);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceEventDelete);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceAllocatorCreate);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceAllocateRaw);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceDeallocateRaw);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceAllocatorName);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceAllocatorAllocatesOpaqueHandle);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceAllocatorDelete);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceContextCreate);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceContextDelete);
  TFNPD_API_STRUCT_FN(TFNPD_DeviceTensorToHostTensor);
  TFNPD_API_STRUCT_FN(TFNPD_HostTensorToDeviceTensor);
  TFNPD_API_STRUCT_FN(TFNPD_SameDeviceTensorCopy);
  TFNPD_API_STRUCT_FN(TFNPD_SameDevicePjRtBufferCopy);
  TFNPD_API_STRUCT_FN(TFNPD_XlaShapeToDeviceShapeRepresentation);
  TFNPD_API_STRUCT_FN(TFNPD_GetDeviceCount);
  TFNPD_API_STRUCT_FN(TFNPD_InitPluginInternalDeviceStates);
} TFNPD_Api;

#undef TFNPD_API_STRUCT_FN

#define TFNPD_Api_STRUCT_SIZE TF_OFFSET_OF_END(TFNPD_Api, TFNPD_InitPluginInternalDeviceStates)

typedef struct TFNPD_PluginParams {
  size_t struct_size;
  void* ext;
  const char* device_type;              // to set, required, [A-Z0-9_]+; static storage
  const char* compilation_device_name;  // to set if the plug-in compiles through XLA; also static
  int32_t priority;                     // to set: the device type of the higher number is preferred
  bool is_pluggable_device;             // to set
  bool use_pjrt_on_demand_compile;      // to set: ops without a kernel are compiled one by one
} TFNPD_PluginParams;

// TensorFlow's value, which leaves out the last member.
#define TFNPD_PLUGIN_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(TFNPD_PluginParams, is_pluggable_device)

// Exported by the plug-in. The host calls it once, on the thread that loads the library, behind
// SE_InitPlugin and before GetPjrtApi and TF_InitKernel. struct_size of the returned table may be
// 0: the table is whole then.
const TFNPD_Api* TFNPD_InitPlugin(TFNPD_PluginParams* params, TF_Status* tf_status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_CORE_COMMON_RUNTIME_NEXT_PLUGGABLE_DEVICE_C_PLUGIN_C_API_H_
