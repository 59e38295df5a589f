// The first half of PJRT's C interface: values, errors, events, clients. Include abi.h. Names are
// ours; offsets are those of the interface, asserted here. What they mean to a host stands in
// docs/pjrt.md.
//
// Each function takes one struct, which begins with a Head, and returns null or an error that the
// caller owns. Members marked "out" are the function's answers. Arrays and texts that come back
// belong to the object that was asked, unless the comment says otherwise. Texts have a length and
// no terminating 0. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::pjrt::abi {

// The objects of a plug-in. Opaque.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Topology;
struct Buffer;
struct Executable;
struct LoadedExecutable;
struct SerializedExecutable;
struct ExecuteContext;
struct NotDeclared;

// The major version that a table must have. The minor version is that of the structs declared here:
// a host does not compare it, and asks which functions a table has instead.
inline constexpr int kMajorVersion = 0;
inline constexpr int kMinorVersion = 90;

// One of a list that ends with a null `next`. A plug-in's list may be a loop.
struct Extension {
  size_t struct_size;
  int type;  // plugin/pjrt/api.cc has the names, in the order of the numbers
  Extension* next;
};

// The start of every struct that a function takes.
struct Head {
  size_t struct_size;     // kStructSize of the struct
  Extension* extensions;  // null
};

// The offset of a struct's last member plus its size: what `struct_size` says. Not sizeof, which
// counts padding. A plug-in refuses a smaller struct than it needs, and takes a larger one.
template <typename Struct>
inline constexpr size_t kStructSize = 0;

#define TENON_PJRT_AT(Struct, member, offset) static_assert(offsetof(Struct, member) == (offset))
#define TENON_PJRT_END(Struct, member, size)                                  \
  static_assert(offsetof(Struct, member) + sizeof(Struct::member) == (size)); \
  template <>                                                                 \
  inline constexpr size_t kStructSize<Struct> = size

TENON_PJRT_AT(Extension, type, 8);
TENON_PJRT_AT(Extension, next, 16);
static_assert(sizeof(Head) == 16);

// --- Values

// The type of a buffer's elements. XLA's own enumeration has other numbers from 13 on, but for kS4
// and kU4.
enum ElementType : int {
  kInvalid = 0,  // ends a plug-in that meets it
  kPred = 1,     // a byte of 0 or 1
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
  kC64 = 14,
  kC128 = 15,
  kF8E5M2 = 16,
  kF8E4M3FN = 17,
  kF8E4M3B11FNUZ = 18,
  kF8E5M2FNUZ = 19,
  kF8E4M3FNUZ = 20,
  kS4 = 21,
  kU4 = 22,
  kToken = 23,
  kS2 = 24,
  kU2 = 25,
  kF8E4M3 = 26,
  kF8E3M4 = 27,
  kF8E8M0FNU = 28,
  kF4E2M1FN = 29,
};

// A name with a value: a client's option, or an attribute of a plug-in or a device.
struct NamedValue {
  enum Type : int { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };
  Head head;
  const char* name;
  size_t name_size;
  Type type;
  union {
    const char* text;
    int64_t integer;
    const int64_t* integers;
    float number;
    bool truth;
  };
  size_t value_size;  // bytes of a text, elements of a list, else 1
};
TENON_PJRT_AT(NamedValue, name, 16);
TENON_PJRT_AT(NamedValue, type, 32);
TENON_PJRT_AT(NamedValue, integer, 40);
TENON_PJRT_END(NamedValue, value_size, 56);

// How the elements of a buffer lie in memory.
struct MemoryLayout {
  enum Type : int { kTiled = 0, kStrides = 1 };
  struct Tiled {
    Head head;
    const int64_t* minor_to_major;
    size_t rank;
    const int64_t* tile_dims;
    const size_t* tile_dim_sizes;
    size_t num_tiles;
  };
  struct Strides {
    Head head;
    const int64_t* byte_strides;
    size_t rank;
  };
  Head head;
  union {
    Tiled tiled;
    Strides strides;
  };
  Type type;
};
TENON_PJRT_AT(MemoryLayout, tiled.minor_to_major, 32);
TENON_PJRT_AT(MemoryLayout, tiled.num_tiles, 64);
TENON_PJRT_AT(MemoryLayout, strides.byte_strides, 32);
TENON_PJRT_END(MemoryLayout, type, 76);
TENON_PJRT_END(MemoryLayout::Tiled, num_tiles, 56);
TENON_PJRT_END(MemoryLayout::Strides, rank, 32);

// --- Errors. The first two functions return nothing.

struct ErrorDestroyArgs {
  Head head;
  Error* error;
};
TENON_PJRT_END(ErrorDestroyArgs, error, 24);

struct ErrorMessageArgs {
  Head head;
  const Error* error;
  const char* message;  // out; lives as long as the error
  size_t message_size;  // out
};
TENON_PJRT_AT(ErrorMessageArgs, message, 24);
TENON_PJRT_END(ErrorMessageArgs, message_size, 40);

struct ErrorGetCodeArgs {
  Head head;
  const Error* error;
  int code;  // out; absl::StatusCode's numbers
};
TENON_PJRT_END(ErrorGetCodeArgs, code, 28);

// --- The plug-in

struct PluginInitializeArgs {
  Head head;
};
TENON_PJRT_END(PluginInitializeArgs, head, 16);

struct PluginAttributesArgs {
  Head head;
  const NamedValue* attributes;  // out; for ever
  size_t num_attributes;         // out
};
TENON_PJRT_AT(PluginAttributesArgs, attributes, 16);
TENON_PJRT_END(PluginAttributesArgs, num_attributes, 32);

// --- Events. The caller owns each event that it gets, and destroys it.

// Event_Destroy, Event_Error, Event_Await.
struct EventArgs {
  Head head;
  Event* event;
};
TENON_PJRT_END(EventArgs, event, 24);

struct EventIsReadyArgs {
  Head head;
  Event* event;
  bool is_ready;  // out
};
TENON_PJRT_END(EventIsReadyArgs, is_ready, 25);

struct EventOnReadyArgs {
  Head head;
  Event* event;
  void (*callback)(Error* error, void* user_arg);  // owns `error`; on any thread, also this one
  void* user_arg;
};
TENON_PJRT_AT(EventOnReadyArgs, callback, 24);
TENON_PJRT_END(EventOnReadyArgs, user_arg, 40);

// --- Clients

struct ClientCreateArgs {
  Head head;
  const NamedValue* options;
  size_t num_options;
  void* kv_get;  // a store for several processes; null for one
  void* kv_get_arg;
  void* kv_put;
  void* kv_put_arg;
  Client* client;  // out
  void* kv_try_get;
  void* kv_try_get_arg;
};
TENON_PJRT_AT(ClientCreateArgs, options, 16);
TENON_PJRT_AT(ClientCreateArgs, kv_put, 48);
TENON_PJRT_AT(ClientCreateArgs, client, 64);
TENON_PJRT_END(ClientCreateArgs, kv_try_get_arg, 88);

struct ClientDestroyArgs {
  Head head;
  Client* client;
};
TENON_PJRT_END(ClientDestroyArgs, client, 24);

// Client_PlatformName, Client_PlatformVersion.
struct ClientTextArgs {
  Head head;
  Client* client;
  const char* text;  // out
  size_t text_size;  // out
};
TENON_PJRT_AT(ClientTextArgs, text, 24);
TENON_PJRT_END(ClientTextArgs, text_size, 40);

struct ClientProcessIndexArgs {
  Head head;
  Client* client;
  int process_index;  // out
};
TENON_PJRT_END(ClientProcessIndexArgs, process_index, 28);

// Client_Devices, Client_AddressableDevices.
struct ClientDevicesArgs {
  Head head;
  Client* client;
  Device* const* devices;  // out
  size_t num_devices;      // out
};
TENON_PJRT_AT(ClientDevicesArgs, devices, 24);
TENON_PJRT_END(ClientDevicesArgs, num_devices, 40);

// Client_LookupDevice, by its description's id; Client_LookupAddressableDevice, by its local
// hardware id.
struct ClientLookupDeviceArgs {
  Head head;
  Client* client;
  int id;
  Device* device;  // out
};
TENON_PJRT_AT(ClientLookupDeviceArgs, id, 24);
TENON_PJRT_END(ClientLookupDeviceArgs, device, 40);

struct ClientMemoriesArgs {
  Head head;
  Client* client;
  Memory* const* memories;  // out
  size_t num_memories;      // out
};
TENON_PJRT_AT(ClientMemoriesArgs, memories, 24);
TENON_PJRT_END(ClientMemoriesArgs, num_memories, 40);

struct ClientDefaultDeviceAssignmentArgs {
  Head head;
  Client* client;
  int num_replicas;
  int num_partitions;
  size_t assignment_size;  // elements of the array below
  int* assignment;         // the caller's; filled
};
TENON_PJRT_AT(ClientDefaultDeviceAssignmentArgs, num_partitions, 28);
TENON_PJRT_AT(ClientDefaultDeviceAssignmentArgs, assignment_size, 32);
TENON_PJRT_END(ClientDefaultDeviceAssignmentArgs, assignment, 48);

struct ClientTopologyArgs {
  Head head;
  Client* client;
  Topology* topology;  // out; the client's
};
TENON_PJRT_END(ClientTopologyArgs, topology, 32);

struct Program {
  Head head;
  const char* code;
  size_t code_size;
  const char* format;  // e.g. "mlir", "hlo"
  size_t format_size;
};
TENON_PJRT_AT(Program, code_size, 24);
TENON_PJRT_AT(Program, format, 32);
TENON_PJRT_END(Program, format_size, 48);

struct ClientCompileArgs {
  Head head;
  Client* client;
  const Program* program;
  const char* options;  // a serialized CompileOptionsProto; XLA aborts if it is empty
  size_t options_size;
  LoadedExecutable* executable;  // out
};
TENON_PJRT_AT(ClientCompileArgs, program, 24);
TENON_PJRT_AT(ClientCompileArgs, options, 32);
TENON_PJRT_END(ClientCompileArgs, executable, 56);

// Until when the host's data of BufferFromHostBuffer must stay as it is.
enum HostBufferSemantics : int {
  kOnlyDuringCall = 0,
  kUntilTransferCompletes = 1,  // until the event `done_with_host_data`
  kZeroCopy = 2,                // until the buffer is gone; only then the event is ready
  kMutableZeroCopy = 3,         // the same, and a donation may write the data
};

struct ClientBufferFromHostBufferArgs {
  Head head;
  Client* client;
  const void* data;
  ElementType type;
  const int64_t* dims;
  size_t rank;
  const int64_t* byte_strides;  // null: dense
  size_t num_byte_strides;
  HostBufferSemantics semantics;
  Device* device;
  Memory* memory;              // null: the device's default
  MemoryLayout* layout;        // null: row major
  Event* done_with_host_data;  // out
  Buffer* buffer;              // out
};
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, data, 24);
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, dims, 40);
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, byte_strides, 56);
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, semantics, 72);
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, device, 80);
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, layout, 96);
TENON_PJRT_AT(ClientBufferFromHostBufferArgs, done_with_host_data, 104);
TENON_PJRT_END(ClientBufferFromHostBufferArgs, buffer, 120);

struct ClientCreateViewArgs {
  Head head;
  Client* client;
  void* data;  // device memory
  const int64_t* dims;
  size_t rank;
  ElementType type;
  MemoryLayout* layout;
  Device* device;
  void (*on_delete)(void* data, void* user_arg);  // null: nobody is told of the deletion
  void* on_delete_arg;
  intptr_t stream;
  Buffer* buffer;  // out
  Memory* memory;
};
TENON_PJRT_AT(ClientCreateViewArgs, data, 24);
TENON_PJRT_AT(ClientCreateViewArgs, type, 48);
TENON_PJRT_AT(ClientCreateViewArgs, device, 64);
TENON_PJRT_AT(ClientCreateViewArgs, on_delete, 72);
TENON_PJRT_AT(ClientCreateViewArgs, stream, 88);
TENON_PJRT_END(ClientCreateViewArgs, memory, 112);

struct ClientCreateUninitializedArgs {
  Head head;
  Client* client;
  const int64_t* dims;
  size_t rank;
  ElementType type;
  MemoryLayout* layout;
  Device* device;
  Memory* memory;
  Buffer* buffer;  // out
};
TENON_PJRT_AT(ClientCreateUninitializedArgs, dims, 24);
TENON_PJRT_AT(ClientCreateUninitializedArgs, type, 40);
TENON_PJRT_AT(ClientCreateUninitializedArgs, device, 56);
TENON_PJRT_END(ClientCreateUninitializedArgs, buffer, 80);

// Client_DmaMap: makes host memory known to the device, so that copies of it are fast.
struct ClientDmaMapArgs {
  Head head;
  Client* client;
  void* data;
  size_t size;
};
TENON_PJRT_AT(ClientDmaMapArgs, data, 24);
TENON_PJRT_END(ClientDmaMapArgs, size, 40);

struct ClientDmaUnmapArgs {
  Head head;
  Client* client;
  void* data;
};
TENON_PJRT_END(ClientDmaUnmapArgs, data, 32);

}  // namespace tenon::pjrt::abi
