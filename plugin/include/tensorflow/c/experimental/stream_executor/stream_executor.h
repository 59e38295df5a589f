// Devices: what a plug-in fills in to bring one.
//
// The plug-in exports SE_InitPlugin. The host calls it once when the library is loaded and gets a
// platform (name, device type, allocator wishes), the platform's functions and, through them, the
// table of stream and memory functions that all devices of the platform share.
//
// Rules for every struct here:
// * The host allocates it, zeroes it and sets struct_size to the size that it knows; the plug-in
//   sets struct_size to the size that it was compiled with. Members beyond it are not read.
//   struct_size 0 is an error. `ext` is reserved: NULL.
// * Structs with prefix SP_ are filled in by the plug-in, those with SE_ by the host.
// * Strings belong to the plug-in and live until the struct's destroy function is called.
// * A destroy function frees what the plug-in put into the struct, never the struct.
// * A status starts as TF_OK.
// * Functions may be called from several threads at once, except that the host uses one stream or
//   event from one thread at a time. Functions that only enqueue work must not block.
//
// "Required" members are checked when the plug-in is loaded; one that is NULL fails the load with
// TF_FAILED_PRECONDITION: 'member' field in Struct must be set.
#ifndef TENSORFLOW_C_EXPERIMENTAL_STREAM_EXECUTOR_STREAM_EXECUTOR_H_
#define TENSORFLOW_C_EXPERIMENTAL_STREAM_EXECUTOR_STREAM_EXECUTOR_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_status.h"

#define SE_MAJOR 0
#define SE_MINOR 0
#define SE_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

// Handles of the plug-in's own objects; the host only passes them on. A stream runs its work in
// the order in which it was enqueued.
typedef struct SP_Stream_st* SP_Stream;
typedef struct SP_Event_st* SP_Event;
typedef struct SP_Timer_st* SP_Timer;

// A function of the host, run by the plug-in when a stream reaches it. The plug-in makes `status`
// and deletes it afterwards; an error that it then holds is the host's.
typedef void (*SE_StatusCallbackFn)(void* const callback_arg, TF_Status* const status);

// Timers are part of the layout only: the host neither requires nor uses them.
typedef struct SP_TimerFns {
  size_t struct_size;
  void* ext;
  uint64_t (*nanoseconds)(SP_Timer timer);
} SP_TimerFns;

#define SP_TIMER_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_TimerFns, nanoseconds)

// State of a device allocator, in bytes unless said otherwise. This struct has no `ext`.
typedef struct SP_AllocatorStats {
  size_t struct_size;
  int64_t num_allocs;  // number of allocations made so far
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  int64_t largest_alloc_size;
  int8_t has_bytes_limit;  // 1: bytes_limit is meant
  int64_t bytes_limit;
  int64_t bytes_reserved;
  int64_t peak_bytes_reserved;
  int8_t has_bytes_reservable_limit;  // 1: bytes_reservable_limit is meant
  int64_t bytes_reservable_limit;
  int64_t largest_free_block_bytes;
} SP_AllocatorStats;

#define SP_ALLOCATORSTATS_STRUCT_SIZE TF_OFFSET_OF_END(SP_AllocatorStats, largest_free_block_bytes)

typedef enum SE_EventStatus {
  SE_EVENT_UNKNOWN = 0,
  SE_EVENT_ERROR = 1,
  SE_EVENT_PENDING = 2,
  SE_EVENT_COMPLETE = 3,
} SE_EventStatus;

// A piece of device memory. `opaque` is an address in the device's sense: the host never looks
// behind it but computes with it (opaque + offset must name the byte at that offset).
typedef struct SP_DeviceMemoryBase {
  size_t struct_size;
  void* ext;
  void* opaque;
  uint64_t size;     // bytes; in copies the size of the copy, in deallocate 0
  uint64_t payload;  // the plug-in's, but lost once the host keeps only the address
} SP_DeviceMemoryBase;

#define SP_DEVICE_MEMORY_BASE_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceMemoryBase, payload)

typedef struct SP_Device {
  size_t struct_size;
  void* ext;
  int32_t ordinal;            // set by the plug-in, from SE_CreateDeviceParams
  void* device_handle;        // the plug-in's own; the host passes it back
  const char* hardware_name;  // optional, as are the next two
  const char* device_vendor;
  const char* pci_bus_id;
} SP_Device;

#define SP_DEVICE_STRUCT_SIZE TF_OFFSET_OF_END(SP_Device, pci_bus_id)

typedef struct SE_CreateDeviceParams {
  size_t struct_size;
  void* ext;
  int32_t ordinal;    // which device, from 0 to get_device_count - 1
  SP_Device* device;  // to fill in
} SE_CreateDeviceParams;

#define SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(SE_CreateDeviceParams, device)

// Facts about a device. All optional.
typedef struct SP_DeviceFns {
  size_t struct_size;
  void* ext;
  int32_t (*get_numa_node)(const SP_Device* device);         // -1: unknown
  int64_t (*get_memory_bandwidth)(const SP_Device* device);  // bytes per second, < 0: unknown
  double (*get_gflops)(const SP_Device* device);             // 10^9 operations per second
} SP_DeviceFns;

#define SP_DEVICE_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceFns, get_gflops)

typedef struct SE_CreateDeviceFnsParams {
  size_t struct_size;
  void* ext;
  SP_DeviceFns* device_fns;  // to fill in
} SE_CreateDeviceFnsParams;

#define SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateDeviceFnsParams, device_fns)

// Memory, streams, events and copies. Required unless marked optional.
typedef struct SP_StreamExecutor {
  size_t struct_size;
  void* ext;

  // --- Memory ---

  // Allocates `size` bytes of device memory and fills in `mem`; mem->opaque NULL means failure.
  // `memory_space` is 0.
  void (*allocate)(const SP_Device* device, uint64_t size, int64_t memory_space,
                   SP_DeviceMemoryBase* mem);

  // Gives back what allocate returned, known by memory->opaque alone (size and payload are 0).
  void (*deallocate)(const SP_Device* device, SP_DeviceMemoryBase* memory);

  // Host memory that the device copies from and to quickly. NULL on failure.
  void* (*host_memory_allocate)(const SP_Device* device, uint64_t size);
  void (*host_memory_deallocate)(const SP_Device* device, void* mem);

  // Memory that host and device both address. Required if the platform supports_unified_memory.
  void* (*unified_memory_allocate)(const SP_Device* device, uint64_t bytes);
  void (*unified_memory_deallocate)(const SP_Device* device, void* location);

  // Fills in `stats`. 0 if there are none.
  TF_Bool (*get_allocator_stats)(const SP_Device* device, SP_AllocatorStats* stats);

  // Free and total device memory in bytes. 0 if unknown.
  TF_Bool (*device_memory_usage)(const SP_Device* device, int64_t* free, int64_t* total);

  // --- Streams ---

  void (*create_stream)(const SP_Device* device, SP_Stream* stream, TF_Status* status);

  // The host has waited for the stream's work before it calls this.
  void (*destroy_stream)(const SP_Device* device, SP_Stream stream);

  // Work enqueued on `dependent` from now on waits for everything that is on `other` now. The host
  // is not blocked.
  void (*create_stream_dependency)(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                                   TF_Status* status);

  // Reports an error that the stream ran into. Does not block.
  void (*get_stream_status)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  // --- Events: points in a stream's work ---

  void (*create_event)(const SP_Device* device, SP_Event* event, TF_Status* status);
  void (*destroy_event)(const SP_Device* device, SP_Event event);

  // Polled often and from a thread of its own: must be cheap.
  SE_EventStatus (*get_event_status)(const SP_Device* device, SP_Event event);

  // The event completes when the work enqueued on `stream` so far has. An event is recorded again
  // only after it was seen complete.
  void (*record_event)(const SP_Device* device, SP_Stream stream, SP_Event event,
                       TF_Status* status);

  // Work enqueued on `stream` from now on waits for the event. The host is not blocked.
  void (*wait_for_event)(const SP_Device* const device, SP_Stream stream, SP_Event event,
                         TF_Status* const status);

  // --- Timers: optional, never called ---

  void (*create_timer)(const SP_Device* device, SP_Timer* timer, TF_Status* status);
  void (*destroy_timer)(const SP_Device* device, SP_Timer timer);
  void (*start_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);
  void (*stop_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);

  // --- Copies enqueued on a stream; `size` in bytes. Both sides stay valid until it is done ---

  void (*memcpy_dtoh)(const SP_Device* device, SP_Stream stream, void* host_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*memcpy_htod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const void* host_src, uint64_t size, TF_Status* status);
  // Optional, but copies between devices of the platform need it. Runs on the source's stream.
  void (*memcpy_dtod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  // --- Copies that are done on return ---

  void (*sync_memcpy_dtoh)(const SP_Device* device, void* host_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*sync_memcpy_htod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const void* host_src, uint64_t size, TF_Status* status);
  // Optional.
  void (*sync_memcpy_dtod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  // --- Waiting on the host ---

  void (*block_host_for_event)(const SP_Device* device, SP_Event event, TF_Status* status);

  // Optional: without it the host records an event and waits for that.
  void (*block_host_until_done)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  // Waits for all streams of the device.
  void (*synchronize_all_activity)(const SP_Device* device, TF_Status* status);

  // --- Filling, enqueued on a stream; `size` in bytes ---

  void (*mem_zero)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint64_t size, TF_Status* status);
  void (*memset)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                 uint8_t pattern, uint64_t size, TF_Status* status);
  void (*memset32)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint32_t pattern, uint64_t size, TF_Status* status);

  // --- Calls back to the host ---

  // Enqueues callback_fn(callback_arg, status), to be called exactly once. 0 on failure.
  TF_Bool (*host_callback)(const SP_Device* device, SP_Stream stream,
                           SE_StatusCallbackFn callback_fn, void* callback_arg);
} SP_StreamExecutor;

#define SP_STREAMEXECUTOR_STRUCT_SIZE TF_OFFSET_OF_END(SP_StreamExecutor, host_callback)

typedef struct SE_CreateStreamExecutorParams {
  size_t struct_size;
  void* ext;
  SP_StreamExecutor* stream_executor;  // to fill in
} SE_CreateStreamExecutorParams;

#define SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateStreamExecutorParams, stream_executor)

// Name and type are required and match [A-Z][A-Z_]*.
typedef struct SP_Platform {
  size_t struct_size;
  void* ext;
  const char* name;  // unique among loaded platforms
  const char* type;  // the T of /device:T:0
  TF_Bool supports_unified_memory;
  TF_Bool use_bfc_allocator;    // 1: the host allocates large regions and divides them itself
  TF_Bool force_memory_growth;  // 1: regions are allocated when needed, not all at the start
} SP_Platform;

#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, force_memory_growth)

// Required unless marked optional.
typedef struct SP_PlatformFns {
  size_t struct_size;
  void* ext;

  // Called often: cheap, and the same answer each time. 0 is legal.
  void (*get_device_count)(const SP_Platform* platform, int* device_count, TF_Status* status);

  // Once per device and process, before anything else is asked of the device.
  void (*create_device)(const SP_Platform* platform, SE_CreateDeviceParams* params,
                        TF_Status* status);
  void (*destroy_device)(const SP_Platform* platform, SP_Device* device);

  // Once, when the plug-in is loaded. The result is copied and serves all devices.
  void (*create_device_fns)(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                            TF_Status* status);
  void (*destroy_device_fns)(const SP_Platform* platform, SP_DeviceFns* device_fns);

  // Once, when the plug-in is loaded. The result is copied and serves all devices.
  void (*create_stream_executor)(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                 TF_Status* status);
  void (*destroy_stream_executor)(const SP_Platform* platform, SP_StreamExecutor* stream_executor);

  // Optional. destroy_timer_fns, where set, is called when the platform goes.
  void (*create_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer, TF_Status* status);
  void (*destroy_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer_fns);
} SP_PlatformFns;

#define SP_PLATFORM_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_PlatformFns, destroy_timer_fns)

typedef struct SE_PlatformRegistrationParams {
  size_t struct_size;
  void* ext;

  int32_t major_version;  // the host's SE_MAJOR, SE_MINOR, SE_PATCH
  int32_t minor_version;
  int32_t patch_version;

  SP_Platform* platform;         // to fill in
  SP_PlatformFns* platform_fns;  // to fill in

  void (*destroy_platform)(SP_Platform* platform);  // to set, required, as is the next
  void (*destroy_platform_fns)(SP_PlatformFns* platform_fns);
} SE_PlatformRegistrationParams;

#define SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_PlatformRegistrationParams, destroy_platform_fns)

// Exported by the plug-in. Called once, on the thread that loads the library.
void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_STREAM_EXECUTOR_STREAM_EXECUTOR_H_
