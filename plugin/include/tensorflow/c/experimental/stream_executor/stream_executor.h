// Devices: what a plug-in fills in to bring one.
//
// The plug-in exports SE_InitPlugin. The host calls it once when the library is loaded and gets a
// platform (name, device type, allocator wishes), the platform's functions and, through them, the
// table of stream and memory functions that all devices of the platform share.
//
// Rules for every struct here:
// * The host allocates the struct, zeroes it and sets struct_size to the size in its own headers;
//   with --abi-check=strict, to another number. The plug-in sets struct_size to the *_STRUCT_SIZE
//   of the headers with which it was compiled. 0 is an error; other sizes are not compared: a
//   member that the plug-in does not know stays 0 or NULL. `ext` is reserved: NULL.
// * The plug-in fills in structs with prefix SP_, the host those with SE_, but for members that are
//   marked "to set". A pointer "to fill in" leads to a struct of the host: the plug-in writes into
//   that struct and leaves the pointer alone.
// * The host may copy a struct that the plug-in has filled in. Later calls get the copy, at another
//   address.
// * Strings belong to the plug-in and live until the struct's destroy function is called.
// * A destroy function frees what the plug-in put into the struct, never the struct. It is called
//   once, when the plug-in is unloaded or its load fails, but not after an error of the function
//   that should have filled in the struct.
// * A status starts as TF_OK. An error in it fails the load, the creation of the device or the run
//   that needed the call.
// * A function must not throw; an exception counts as an error.
//
// Threads: functions may be called from several threads at once. The host enqueues on one stream,
// and uses one event, from one thread at a time. Kernels of several runs may enqueue on one compute
// stream (TF_GetStream in kernels.h) at the same time, and so may the host: the plug-in guards the
// stream. Functions that only enqueue work must not block.
//
// "Required" members are checked when the plug-in is loaded; one that is NULL fails the load with
// TF_FAILED_PRECONDITION: 'member' field in Struct must be set. This host requires all members that
// TensorFlow requires, and does not call all of them. Besides what is marked so below, it never
// calls unified_memory_*, get_allocator_stats, get_stream_status, sync_memcpy_*, mem_zero, memset
// and memset32. Copies are from and to any host memory.
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

// A function of the host that the plug-in calls when a stream reaches it (host_callback), on any
// thread. The plug-in makes `status` before the call and deletes it afterwards. An error that the
// host sets there is no fault of the plug-in.
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
  int8_t has_bytes_limit;  // 1: bytes_limit is set
  int64_t bytes_limit;
  int64_t bytes_reserved;
  int64_t peak_bytes_reserved;
  int8_t has_bytes_reservable_limit;  // 1: bytes_reservable_limit is set
  int64_t bytes_reservable_limit;
  int64_t largest_free_block_bytes;
} SP_AllocatorStats;

#define SP_ALLOCATORSTATS_STRUCT_SIZE TF_OFFSET_OF_END(SP_AllocatorStats, largest_free_block_bytes)

typedef enum SE_EventStatus {
  SE_EVENT_UNKNOWN = 0,  // fails the run, as does any other number
  SE_EVENT_ERROR = 1,    // fails the run
  SE_EVENT_PENDING = 2,
  SE_EVENT_COMPLETE = 3,
} SE_EventStatus;

// A piece of device memory. `opaque` is an address of the device. The host never reads or writes
// there, but computes with the address: opaque + n must be the address of byte n. So functions may
// get an address within a block that `allocate` returned.
typedef struct SP_DeviceMemoryBase {
  size_t struct_size;
  void* ext;
  void* opaque;
  uint64_t size;     // bytes; in copies and fills their size, in deallocate 0
  uint64_t payload;  // for the plug-in, but the host keeps only `opaque`: 0 in later calls
} SP_DeviceMemoryBase;

#define SP_DEVICE_MEMORY_BASE_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceMemoryBase, payload)

typedef struct SP_Device {
  size_t struct_size;
  void* ext;
  int32_t ordinal;            // set by the plug-in, from SE_CreateDeviceParams
  void* device_handle;        // for the plug-in; the host does not read it
  const char* hardware_name;  // optional, as are the next two
  const char* device_vendor;
  const char* pci_bus_id;
} SP_Device;

#define SP_DEVICE_STRUCT_SIZE TF_OFFSET_OF_END(SP_Device, pci_bus_id)

typedef struct SE_CreateDeviceParams {
  size_t struct_size;
  void* ext;
  int32_t ordinal;    // of the device in this platform, from 0 to device_count - 1
  SP_Device* device;  // to fill in
} SE_CreateDeviceParams;

#define SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(SE_CreateDeviceParams, device)

// Facts about a device, for reports. All optional.
typedef struct SP_DeviceFns {
  size_t struct_size;
  void* ext;
  int32_t (*get_numa_node)(const SP_Device* device);         // -1: unknown
  int64_t (*get_memory_bandwidth)(const SP_Device* device);  // bytes per second, < 0: unknown
  double (*get_gflops)(const SP_Device* device);  // 10^9 operations per second; never called
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

  // Allocates `size` bytes of device memory, at least 1, and sets mem->opaque to a multiple of 64
  // (TF_TensorDefaultAlignment). NULL there means that the device has no such memory left. The host
  // may then ask again, after it has freed memory, or for less. `memory_space` is 0. The call may
  // come while the device works, and must not wait for streams.
  void (*allocate)(const SP_Device* device, uint64_t size, int64_t memory_space,
                   SP_DeviceMemoryBase* mem);

  // Frees a block of `allocate`. memory->opaque is the address that `allocate` set; size and
  // payload are 0. Work that used the block is done by then. Never called after destroy_device,
  // which frees the blocks that are left.
  void (*deallocate)(const SP_Device* device, SP_DeviceMemoryBase* memory);

  // Host memory that the device copies from and to quickly; NULL on failure: copies then use other
  // memory. The host asks for a few large pieces, for copies of 128 KiB and more; never with
  // --abi-check=strict. The second function frees a piece, perhaps after the device's streams are
  // destroyed, but before destroy_device.
  void* (*host_memory_allocate)(const SP_Device* device, uint64_t size);
  void (*host_memory_deallocate)(const SP_Device* device, void* mem);

  // Memory that host and device both address; NULL on failure. The second function frees it. Both
  // are required if the platform has supports_unified_memory, else optional.
  void* (*unified_memory_allocate)(const SP_Device* device, uint64_t bytes);
  void (*unified_memory_deallocate)(const SP_Device* device, void* location);

  // Fills in `stats`, which arrives zeroed, and returns 1; returns 0 if there are none.
  TF_Bool (*get_allocator_stats)(const SP_Device* device, SP_AllocatorStats* stats);

  // Sets free and total device memory, in bytes, and returns 1; returns 0 if they are unknown. With
  // use_bfc_allocator the host derives its limit from the free memory: unknown or negative free
  // memory then fails the creation of the device.
  TF_Bool (*device_memory_usage)(const SP_Device* device, int64_t* free, int64_t* total);

  // --- Streams ---

  // Sets *stream. The host creates four streams for each device, after create_device: for kernels,
  // for copies to the device, from it, and between devices. With --device-streams=N the host later
  // creates up to N - 1 more for kernels (at most 15), if memcpy_dtod is set; after an error the
  // host warns, and creates no more. With --abi-check=strict it may create one for its checks.
  void (*create_stream)(const SP_Device* device, SP_Stream* stream, TF_Status* status);

  // The host has waited for the stream's work before it calls this. Not called for a NULL handle.
  void (*destroy_stream)(const SP_Device* device, SP_Stream stream);

  // Work that is enqueued on `dependent` after this call starts only when all work that is on
  // `other` at the call is done. Does not block. `other` may be a stream of another device of the
  // platform, and another thread may be enqueuing on it.
  void (*create_stream_dependency)(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                                   TF_Status* status);

  // Sets `status` to the error that work on the stream has had, if any. Does not block.
  void (*get_stream_status)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  // --- Events: points in a stream's work ---

  void (*create_event)(const SP_Device* device, SP_Event* event, TF_Status* status);
  void (*destroy_event)(const SP_Device* device, SP_Event event);

  // Polled often, on any thread that waits: must be cheap.
  SE_EventStatus (*get_event_status)(const SP_Device* device, SP_Event event);

  // The event completes when all work that is on `stream` at the call is done. The host records an
  // event again only after it has seen the event complete or has waited for it.
  void (*record_event)(const SP_Device* device, SP_Stream stream, SP_Event event,
                       TF_Status* status);

  // Work that is enqueued on `stream` after this call starts only when the event is complete. Does
  // not block. Called only for a device with several streams for kernels.
  void (*wait_for_event)(const SP_Device* const device, SP_Stream stream, SP_Event event,
                         TF_Status* const status);

  // --- Timers: optional, never called ---

  void (*create_timer)(const SP_Device* device, SP_Timer* timer, TF_Status* status);
  void (*destroy_timer)(const SP_Device* device, SP_Timer timer);
  void (*start_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);
  void (*stop_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);

  // --- Copies enqueued on a stream ---
  //
  // `size` is in bytes, at least 1. The structs are valid during the call, source and destination
  // until the copy is done.

  void (*memcpy_dtoh)(const SP_Device* device, SP_Stream stream, void* host_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*memcpy_htod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const void* host_src, uint64_t size, TF_Status* status);
  // Optional. Copies between devices of the platform, and within a device with several streams for
  // kernels; other hosts copy within any device. Without it the host copies by way of host memory.
  // `device` is the source's device, and `stream` a stream of that device.
  void (*memcpy_dtod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  // --- Copies that are done on return ---

  void (*sync_memcpy_dtoh)(const SP_Device* device, void* host_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*sync_memcpy_htod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const void* host_src, uint64_t size, TF_Status* status);
  // Optional, never called.
  void (*sync_memcpy_dtod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  // --- Waiting on the host ---

  // Returns when the event is complete.
  void (*block_host_for_event)(const SP_Device* device, SP_Event event, TF_Status* status);

  // Returns when the stream's work is done. Optional: without it the host records an event and
  // waits for the event.
  void (*block_host_until_done)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  // Returns when the work of all streams of the device is done.
  void (*synchronize_all_activity)(const SP_Device* device, TF_Status* status);

  // --- Filling, enqueued on a stream ---
  //
  // `size` is in bytes, for memset32 a multiple of 4. The location is valid until the filling is
  // done.

  void (*mem_zero)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint64_t size, TF_Status* status);
  void (*memset)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                 uint8_t pattern, uint64_t size, TF_Status* status);
  void (*memset32)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint32_t pattern, uint64_t size, TF_Status* status);

  // --- Calls back to the host ---

  // Enqueues a call of callback_fn(callback_arg, status) behind the work that is on the stream, and
  // returns 1; the plug-in makes that call exactly once, on any thread. Returns 0 on failure, and
  // then never makes the call.
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

// Name and type are required and match [A-Z][A-Z_]*; TF_FAILED_PRECONDITION otherwise.
typedef struct SP_Platform {
  size_t struct_size;
  void* ext;
  const char* name;  // TensorFlow refuses a second platform of a name; this host only warns
  // The T of /device:T:0. TensorFlow refuses a second platform of a type. This host warns, and
  // gives the devices of the second one the ordinals behind those of the first.
  const char* type;
  TF_Bool supports_unified_memory;  // 1: the table has unified_memory_*
  // 1: the host allocates regions and divides them into tensors. 0: one `allocate` per tensor.
  TF_Bool use_bfc_allocator;
  // With use_bfc_allocator. 1: regions from 2 MiB on, each twice as large, when needed. 0: one
  // region of the free memory, less a reserve, at the first tensor.
  TF_Bool force_memory_growth;
} SP_Platform;

#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, force_memory_growth)

// Required unless marked otherwise.
typedef struct SP_PlatformFns {
  size_t struct_size;
  void* ext;

  // Not checked at the load, but without it the plug-in has no devices. Sets *device_count, which
  // arrives as 0. Called often: must be cheap and give the same answer each time. 0 is legal. With
  // an error, a negative number or one above 1024 the plug-in has no devices, and the host warns.
  void (*get_device_count)(const SP_Platform* platform, int* device_count, TF_Status* status);

  // Called once per device and load, when some session first wants devices, and before any other
  // function gets the device. An error in the creation of one device drops all that the plug-in
  // registered. destroy_device comes after the device's streams and events are destroyed.
  void (*create_device)(const SP_Platform* platform, SE_CreateDeviceParams* params,
                        TF_Status* status);
  void (*destroy_device)(const SP_Platform* platform, SP_Device* device);

  // Called once per load, in it. The table serves all devices.
  void (*create_device_fns)(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                            TF_Status* status);
  void (*destroy_device_fns)(const SP_Platform* platform, SP_DeviceFns* device_fns);

  // Called once per load, in it, after create_device_fns. The table serves all devices.
  void (*create_stream_executor)(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                 TF_Status* status);
  void (*destroy_stream_executor)(const SP_Platform* platform, SP_StreamExecutor* stream_executor);

  // Optional. create_timer_fns is never called. destroy_timer_fns, where set, is called all the
  // same when the platform is destroyed, with a struct that is zeroed but for struct_size.
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

// Exported by the plug-in. Called once per load, on the thread that loads the library. An error in
// `status` fails the load, and no destroy function is called.
void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_STREAM_EXECUTOR_STREAM_EXECUTOR_H_
