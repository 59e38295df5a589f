// PJRT's C interface, as far as Tenon uses it: the table that a plug-in's GetPjrtApi returns, and
// the structs that its functions take. abi_client.h has the first half, and says what holds of all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenon/pjrt/abi_client.h"
#include "tenon/pjrt/slots.h"

namespace tenon::pjrt::abi {

// --- Devices and memories

struct DeviceGetDescriptionArgs {
  Head head;
  Device* device;
  DeviceDescription* description;  // out
};
TENON_PJRT_END(DeviceGetDescriptionArgs, description, 32);

struct DeviceIsAddressableArgs {
  Head head;
  Device* device;
  bool is_addressable;  // out
};
TENON_PJRT_END(DeviceIsAddressableArgs, is_addressable, 25);

struct DeviceLocalHardwareIdArgs {
  Head head;
  Device* device;
  int id;  // out
};
TENON_PJRT_END(DeviceLocalHardwareIdArgs, id, 28);

struct DeviceMemoriesArgs {
  Head head;
  Device* device;
  Memory* const* memories;  // out
  size_t num_memories;      // out
};
TENON_PJRT_AT(DeviceMemoriesArgs, memories, 24);
TENON_PJRT_END(DeviceMemoriesArgs, num_memories, 40);

struct DeviceDefaultMemoryArgs {
  Head head;
  Device* device;
  Memory* memory;  // out
};
TENON_PJRT_END(DeviceDefaultMemoryArgs, memory, 32);

// A figure that a device may not have.
struct OptionalCount {
  int64_t value;
  bool is_set;
};
static_assert(sizeof(OptionalCount) == 16);

struct DeviceMemoryStatsArgs {
  Head head;
  Device* device;
  int64_t bytes_in_use;             // out, as all below
  OptionalCount peak_bytes_in_use;  // bytes
  OptionalCount num_allocations;
  OptionalCount largest_allocation;  // bytes
  OptionalCount bytes_limit;
  OptionalCount bytes_reserved;
  OptionalCount peak_bytes_reserved;
  OptionalCount bytes_reservable_limit;
  OptionalCount largest_free_block;  // bytes
  OptionalCount pool_bytes;
  int64_t peak_pool_bytes;
  bool peak_pool_bytes_is_set;
};
TENON_PJRT_AT(DeviceMemoryStatsArgs, peak_bytes_in_use, 32);
TENON_PJRT_AT(DeviceMemoryStatsArgs, bytes_limit, 80);
TENON_PJRT_END(DeviceMemoryStatsArgs, peak_pool_bytes_is_set, 185);

// DeviceDescription_Id, DeviceDescription_ProcessIndex.
struct DescriptionNumberArgs {
  Head head;
  DeviceDescription* description;
  int number;  // out
};
TENON_PJRT_END(DescriptionNumberArgs, number, 28);

// DeviceDescription_Kind, _ToString, _DebugString.
struct DescriptionTextArgs {
  Head head;
  DeviceDescription* description;
  const char* text;  // out
  size_t text_size;  // out
};
TENON_PJRT_AT(DescriptionTextArgs, text, 24);
TENON_PJRT_END(DescriptionTextArgs, text_size, 40);

// The count comes first, other than in PluginAttributesArgs.
struct DescriptionAttributesArgs {
  Head head;
  DeviceDescription* description;
  size_t num_attributes;         // out
  const NamedValue* attributes;  // out
};
TENON_PJRT_AT(DescriptionAttributesArgs, num_attributes, 24);
TENON_PJRT_END(DescriptionAttributesArgs, attributes, 40);

// Memory_Id, Memory_Kind_Id.
struct MemoryNumberArgs {
  Head head;
  Memory* memory;
  int number;  // out
};
TENON_PJRT_END(MemoryNumberArgs, number, 28);

// Memory_Kind, Memory_ToString, Memory_DebugString.
struct MemoryTextArgs {
  Head head;
  Memory* memory;
  const char* text;  // out
  size_t text_size;  // out
};
TENON_PJRT_AT(MemoryTextArgs, text, 24);
TENON_PJRT_END(MemoryTextArgs, text_size, 40);

struct MemoryDevicesArgs {
  Head head;
  Memory* memory;
  Device* const* devices;  // out
  size_t num_devices;      // out
};
TENON_PJRT_AT(MemoryDevicesArgs, devices, 24);
TENON_PJRT_END(MemoryDevicesArgs, num_devices, 40);

// --- Executables

struct ExecutableDestroyArgs {
  Head head;
  Executable* executable;
};
TENON_PJRT_END(ExecutableDestroyArgs, executable, 24);

// Executable_Name, Executable_Fingerprint.
struct ExecutableTextArgs {
  Head head;
  Executable* executable;
  const char* text;  // out
  size_t text_size;  // out
};
TENON_PJRT_AT(ExecutableTextArgs, text, 24);
TENON_PJRT_END(ExecutableTextArgs, text_size, 40);

// Executable_NumReplicas, _NumPartitions, _NumOutputs.
struct ExecutableCountArgs {
  Head head;
  Executable* executable;
  size_t count;  // out
};
TENON_PJRT_END(ExecutableCountArgs, count, 32);

struct ExecutableCodeSizeArgs {
  Head head;
  Executable* executable;
  int64_t bytes;  // out
};
TENON_PJRT_END(ExecutableCodeSizeArgs, bytes, 32);

struct ExecutableCostArgs {
  Head head;
  Executable* executable;
  size_t num_properties;         // out
  const NamedValue* properties;  // out
};
TENON_PJRT_AT(ExecutableCostArgs, num_properties, 24);
TENON_PJRT_END(ExecutableCostArgs, properties, 40);

struct ExecutableOutputMemoryKindsArgs {
  Head head;
  Executable* executable;
  size_t num_outputs;        // out
  const char* const* kinds;  // out
  const size_t* kind_sizes;  // out; bytes
};
TENON_PJRT_AT(ExecutableOutputMemoryKindsArgs, kinds, 32);
TENON_PJRT_END(ExecutableOutputMemoryKindsArgs, kind_sizes, 48);

// A first call with a null `code` asks for the size, a second fills the caller's memory.
struct ExecutableOptimizedProgramArgs {
  Head head;
  Executable* executable;
  Program* program;  // the caller's; filled
};
TENON_PJRT_END(ExecutableOptimizedProgramArgs, program, 32);

struct ExecutableOutputTypesArgs {
  Head head;
  Executable* executable;
  ElementType* types;  // out
  size_t num_types;    // out
};
TENON_PJRT_AT(ExecutableOutputTypesArgs, types, 24);
TENON_PJRT_END(ExecutableOutputTypesArgs, num_types, 40);

struct ExecutableOutputDimensionsArgs {
  Head head;
  Executable* executable;
  size_t num_outputs;   // out
  const int64_t* dims;  // out; of all outputs, one behind the other
  const size_t* ranks;  // out; of each output
};
TENON_PJRT_AT(ExecutableOutputDimensionsArgs, num_outputs, 24);
TENON_PJRT_AT(ExecutableOutputDimensionsArgs, dims, 32);
TENON_PJRT_END(ExecutableOutputDimensionsArgs, ranks, 48);

struct ExecutableMemoryStatsArgs {
  Head head;
  Executable* executable;
  int64_t code_bytes;  // out, as all below
  int64_t argument_bytes;
  int64_t output_bytes;
  int64_t aliased_bytes;
  int64_t temporary_bytes;
  int64_t host_code_bytes;
  int64_t host_argument_bytes;
  int64_t host_output_bytes;
  int64_t host_aliased_bytes;
  int64_t host_temporary_bytes;
  int64_t peak_bytes;
  int64_t total_bytes;
};
TENON_PJRT_AT(ExecutableMemoryStatsArgs, code_bytes, 24);
TENON_PJRT_AT(ExecutableMemoryStatsArgs, peak_bytes, 104);
TENON_PJRT_END(ExecutableMemoryStatsArgs, total_bytes, 120);

struct ExecutableSerializeArgs {
  Head head;
  const Executable* executable;
  const char* bytes;                              // out; until `deleter` is called
  size_t num_bytes;                               // out
  SerializedExecutable* handle;                   // out
  void (*deleter)(SerializedExecutable* handle);  // out; to be called once
};
TENON_PJRT_AT(ExecutableSerializeArgs, bytes, 24);
TENON_PJRT_AT(ExecutableSerializeArgs, handle, 40);
TENON_PJRT_END(ExecutableSerializeArgs, deleter, 56);

struct DeserializeAndLoadArgs {
  Head head;
  Client* client;
  const char* bytes;
  size_t num_bytes;
  LoadedExecutable* executable;  // out
  const char* options;           // other compile options; may be null
  size_t options_size;
};
TENON_PJRT_AT(DeserializeAndLoadArgs, bytes, 24);
TENON_PJRT_AT(DeserializeAndLoadArgs, executable, 40);
TENON_PJRT_END(DeserializeAndLoadArgs, options_size, 64);

// LoadedExecutable_Destroy, _Delete.
struct LoadedArgs {
  Head head;
  LoadedExecutable* executable;
};
TENON_PJRT_END(LoadedArgs, executable, 24);

struct LoadedIsDeletedArgs {
  Head head;
  LoadedExecutable* executable;
  bool is_deleted;  // out
};
TENON_PJRT_END(LoadedIsDeletedArgs, is_deleted, 25);

struct LoadedGetExecutableArgs {
  Head head;
  LoadedExecutable* loaded;
  Executable* executable;  // out; the caller's to destroy
};
TENON_PJRT_END(LoadedGetExecutableArgs, executable, 32);

struct LoadedDevicesArgs {
  Head head;
  LoadedExecutable* executable;
  Device* const* devices;  // out
  size_t num_devices;      // out
};
TENON_PJRT_AT(LoadedDevicesArgs, devices, 24);
TENON_PJRT_END(LoadedDevicesArgs, num_devices, 40);

struct LoadedTextArgs {
  Head head;
  LoadedExecutable* executable;
  const char* text;  // out
  size_t text_size;  // out
};
TENON_PJRT_AT(LoadedTextArgs, text, 24);
TENON_PJRT_END(LoadedTextArgs, text_size, 40);

struct ExecuteOptions {
  Head head;
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_inputs;  // indices of arguments that stay whole
  size_t num_non_donatable_inputs;
  ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
};
TENON_PJRT_AT(ExecuteOptions, launch_id, 48);
TENON_PJRT_AT(ExecuteOptions, non_donatable_inputs, 56);
TENON_PJRT_AT(ExecuteOptions, context, 72);
TENON_PJRT_AT(ExecuteOptions, num_tasks, 88);
TENON_PJRT_END(ExecuteOptions, incarnation_ids, 112);

struct ExecuteArgs {
  Head head;
  LoadedExecutable* executable;
  ExecuteOptions* options;
  Buffer* const* const* arguments;  // [devices][arguments]; a null buffer crashes XLA
  size_t num_devices;
  size_t num_arguments;
  Buffer** const* outputs;  // [devices][outputs]; the arrays are the caller's, filled
  Event** complete_events;  // [devices], filled; or null
  Device* execute_device;   // for a portable executable; else null
};
TENON_PJRT_AT(ExecuteArgs, options, 24);
TENON_PJRT_AT(ExecuteArgs, arguments, 32);
TENON_PJRT_AT(ExecuteArgs, num_arguments, 48);
TENON_PJRT_AT(ExecuteArgs, outputs, 56);
TENON_PJRT_END(ExecuteArgs, execute_device, 80);

// --- Buffers

// Buffer_Destroy, Buffer_Delete, Buffer_IncreaseExternalReferenceCount, _Decrease...
struct BufferArgs {
  Head head;
  Buffer* buffer;
};
TENON_PJRT_END(BufferArgs, buffer, 24);

// Buffer_IsDeleted, Buffer_IsOnCpu.
struct BufferFlagArgs {
  Head head;
  Buffer* buffer;
  bool flag;  // out
};
TENON_PJRT_END(BufferFlagArgs, flag, 25);

struct BufferElementTypeArgs {
  Head head;
  Buffer* buffer;
  ElementType type;  // out
};
TENON_PJRT_END(BufferElementTypeArgs, type, 28);

// Buffer_Dimensions, Buffer_UnpaddedDimensions.
struct BufferDimensionsArgs {
  Head head;
  Buffer* buffer;
  const int64_t* dims;  // out
  size_t rank;          // out
};
TENON_PJRT_AT(BufferDimensionsArgs, dims, 24);
TENON_PJRT_END(BufferDimensionsArgs, rank, 40);

struct BufferDynamicAxesArgs {
  Head head;
  Buffer* buffer;
  const size_t* axes;  // out
  size_t num_axes;     // out
};
TENON_PJRT_AT(BufferDynamicAxesArgs, axes, 24);
TENON_PJRT_END(BufferDynamicAxesArgs, num_axes, 40);

struct BufferLayoutArgs {
  Head head;
  Buffer* buffer;
  MemoryLayout layout;  // out
};
TENON_PJRT_AT(BufferLayoutArgs, layout, 24);
static_assert(sizeof(MemoryLayout) == 80);
TENON_PJRT_END(BufferLayoutArgs, layout, 104);

struct BufferSizeArgs {
  Head head;
  Buffer* buffer;
  size_t bytes;  // out
};
TENON_PJRT_END(BufferSizeArgs, bytes, 32);

struct BufferDeviceArgs {
  Head head;
  Buffer* buffer;
  Device* device;  // out
};
TENON_PJRT_END(BufferDeviceArgs, device, 32);

struct BufferMemoryArgs {
  Head head;
  Buffer* buffer;
  Memory* memory;  // out
};
TENON_PJRT_END(BufferMemoryArgs, memory, 32);

struct BufferReadyEventArgs {
  Head head;
  Buffer* buffer;
  Event* event;  // out; the caller's
};
TENON_PJRT_END(BufferReadyEventArgs, event, 32);

struct BufferUnsafePointerArgs {
  Head head;
  Buffer* buffer;
  uintptr_t pointer;  // out
};
TENON_PJRT_END(BufferUnsafePointerArgs, pointer, 32);

struct BufferPointerArgs {
  Head head;
  Buffer* buffer;
  void* pointer;  // out; device memory
};
TENON_PJRT_END(BufferPointerArgs, pointer, 32);

struct BufferToHostArgs {
  Head head;
  Buffer* buffer;
  MemoryLayout* layout;  // null: the buffer's own
  void* data;            // null: ask for the size only
  size_t size;           // bytes; in and out
  Event* event;          // out; the caller's
};
TENON_PJRT_AT(BufferToHostArgs, layout, 24);
TENON_PJRT_AT(BufferToHostArgs, data, 32);
TENON_PJRT_END(BufferToHostArgs, event, 56);

struct BufferCopyToDeviceArgs {
  Head head;
  Buffer* buffer;
  Device* device;
  Buffer* copy;  // out
};
TENON_PJRT_AT(BufferCopyToDeviceArgs, device, 24);
TENON_PJRT_END(BufferCopyToDeviceArgs, copy, 40);

struct BufferCopyToMemoryArgs {
  Head head;
  Buffer* buffer;
  Memory* memory;
  Buffer* copy;  // out
};
TENON_PJRT_AT(BufferCopyToMemoryArgs, memory, 24);
TENON_PJRT_END(BufferCopyToMemoryArgs, copy, 40);

// --- The table

struct Version {
  size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};
TENON_PJRT_AT(Version, minor, 20);
TENON_PJRT_END(Version, minor, 24);

// Static in the plug-in. A function is there if `struct_size` reaches behind its pointer and the
// pointer is not null (api.h asks so); whatever the minor version says.
struct Api {
  size_t struct_size;
  Extension* extensions;
  Version version;
#define TENON_PJRT_MEMBER(Name, member, Args) Error* (*member)(Args*);
#define TENON_PJRT_VOID_MEMBER(Name, member, Args) void (*member)(Args*);
  TENON_PJRT_SLOTS(TENON_PJRT_MEMBER, TENON_PJRT_VOID_MEMBER)
#undef TENON_PJRT_MEMBER
#undef TENON_PJRT_VOID_MEMBER
};
TENON_PJRT_AT(Api, version, 16);
TENON_PJRT_AT(Api, error_destroy, 40);
TENON_PJRT_AT(Api, client_create, 40 + 8 * 10);
TENON_PJRT_AT(Api, device_memory_stats, 40 + 8 * 34);
TENON_PJRT_AT(Api, loaded_executable_execute, 40 + 8 * 55);
TENON_PJRT_AT(Api, buffer_destroy, 40 + 8 * 58);
TENON_PJRT_AT(Api, executable_output_element_types, 40 + 8 * 90);
TENON_PJRT_AT(Api, client_dma_map, 40 + 8 * 110);
TENON_PJRT_AT(Api, event_create, 40 + 8 * 126);
TENON_PJRT_END(Api, device_clear_memory_stats, 40 + 8 * 136);

// GetPjrtApi, the one function that a plug-in must export.
using GetApi = const Api*();

#undef TENON_PJRT_AT
#undef TENON_PJRT_END

}  // namespace tenon::pjrt::abi
