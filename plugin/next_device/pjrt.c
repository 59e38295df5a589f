// PJRT from C without its header: the structs' layouts, and the numbers of slots, are the
// interface's. Every struct begins with its size, up to the end of its last member.
#define _GNU_SOURCE
#include "pjrt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "next_device.h"

typedef struct Head {
  size_t struct_size;
  void* extensions;
} Head;

typedef struct ErrorMessageArgs {
  Head head;
  void* error;
  const char* message;  // out
  size_t message_size;  // out
} ErrorMessageArgs;

typedef struct ErrorCodeArgs {
  Head head;
  void* error;
  int code;  // out
} ErrorCodeArgs;

// Error_Destroy, Event_Await and Event_Destroy.
typedef struct ObjectArgs {
  Head head;
  void* object;
} ObjectArgs;

typedef struct DevicesArgs {
  Head head;
  PJRT_Client* client;
  void* const* devices;  // out
  size_t num_devices;    // out
} DevicesArgs;

typedef struct FromHostArgs {
  Head head;
  PJRT_Client* client;
  const void* data;
  int type;
  const int64_t* dims;
  size_t rank;
  const int64_t* byte_strides;
  size_t num_byte_strides;
  int semantics;
  void* device;
  void* memory;
  void* layout;
  void* done;           // out: an event
  PJRT_Buffer* buffer;  // out
} FromHostArgs;

typedef struct ToHostArgs {
  Head head;
  PJRT_Buffer* buffer;
  void* layout;
  void* data;
  size_t size;
  void* event;  // out
} ToHostArgs;

typedef struct BufferDeviceArgs {
  Head head;
  PJRT_Buffer* buffer;
  void* device;  // out
} BufferDeviceArgs;

typedef struct CopyToDeviceArgs {
  Head head;
  PJRT_Buffer* buffer;
  void* device;
  PJRT_Buffer* copy;  // out
} CopyToDeviceArgs;

enum Slot {
  kErrorDestroy = 0,
  kErrorMessage = 1,
  kErrorGetCode = 2,
  kEventDestroy = 5,
  kEventAwait = 8,
  kAddressableDevices = 16,
  kBufferFromHostBuffer = 22,
  kBufferDestroy = 58,
  kBufferDevice = 65,
  kBufferCopyToDevice = 69,
  kBufferToHostBuffer = 70,
};

enum { kFirstSlotBytes = 40, kFloat32 = 11, kOnlyDuringCall = 0 };

typedef void* Function(void* args);

static void* CallSlot(enum Slot slot, void* args) {
  const char* at = (const char*)ReferenceApi() + kFirstSlotBytes + (size_t)slot * sizeof(void*);
  Function* function = NULL;
  memcpy(&function, at, sizeof(function));
  return function(args);
}

// Returns whether there was no error; sets `status` to one, and destroys it.
static bool Take(void* error, TF_Status* status) {
  if (error == NULL) return true;
  ErrorMessageArgs message = {{sizeof(message), NULL}, error, NULL, 0};
  CallSlot(kErrorMessage, &message);
  ErrorCodeArgs code = {{offsetof(ErrorCodeArgs, code) + sizeof(int), NULL}, error, 0};
  CallSlot(kErrorGetCode, &code);
  char text[512];
  snprintf(text, sizeof(text), "%.*s", (int)message.message_size, message.message);
  TF_SetStatus(status, (TF_Code)code.code, text);
  ObjectArgs destroy = {{sizeof(destroy), NULL}, error};
  CallSlot(kErrorDestroy, &destroy);
  return false;
}

static void AwaitEvent(void* event, TF_Status* status) {
  ObjectArgs args = {{sizeof(args), NULL}, event};
  Take(CallSlot(kEventAwait, &args), status);
  Take(CallSlot(kEventDestroy, &args), status);
}

// The reference plug-in lies beside this library.
static const PJRT_Api* OpenReference(void) {
  static const char kName[] = "libpjrt_reference.so";
  Dl_info self;
  char path[4096];
  if (dladdr((void*)&OpenReference, &self) == 0) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - self.dli_fname) + 1;
  snprintf(path, sizeof(path), "%.*s%s", folder, self.dli_fname, kName);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  const PJRT_Api* (*get)(void) = NULL;
  void* symbol = dlsym(library, "GetPjrtApi");
  memcpy(&get, &symbol, sizeof(get));
  return get == NULL ? NULL : get();
}

const PJRT_Api* ReferenceApi(void) {
  static const PJRT_Api* api = NULL;  // set while the plug-in is loaded, by one thread
  if (api == NULL) api = OpenReference();
  return api;
}

// Without devices of its own in this process, as a library with two faces may answer.
NEXT_DEVICE_ENTRY_POINT const PJRT_Api* GetPjrtApi(void) {
  Trace("GetPjrtApi");
  return UsesNextDevice() ? ReferenceApi() : NULL;
}

void ReadBuffer(PJRT_Buffer* buffer, void* to, size_t size, TF_Status* status) {
  ToHostArgs args = {{sizeof(args), NULL}, buffer, NULL, to, size, NULL};
  if (Take(CallSlot(kBufferToHostBuffer, &args), status)) AwaitEvent(args.event, status);
}

PJRT_Buffer* MakeFloatBuffer(PJRT_Client* client, int ordinal, const float* data,
                             const int64_t* dims, size_t rank, TF_Status* status) {
  DevicesArgs devices = {{sizeof(devices), NULL}, client, NULL, 0};
  if (!Take(CallSlot(kAddressableDevices, &devices), status)) return NULL;
  if (ordinal < 0 || (size_t)ordinal >= devices.num_devices) {
    TF_SetStatus(status, TF_NOT_FOUND, "the client has no such device");
    return NULL;
  }
  FromHostArgs args;
  memset(&args, 0, sizeof(args));
  args.head.struct_size = sizeof(args);
  args.client = client;
  args.data = data;
  args.type = kFloat32;
  args.dims = dims;
  args.rank = rank;
  args.semantics = kOnlyDuringCall;
  args.device = devices.devices[ordinal];
  if (!Take(CallSlot(kBufferFromHostBuffer, &args), status)) return NULL;
  AwaitEvent(args.done, status);
  if (TF_GetCode(status) == TF_OK) return args.buffer;
  ObjectArgs destroy = {{sizeof(destroy), NULL}, args.buffer};
  TF_Status* const ignored = TF_NewStatus();
  Take(CallSlot(kBufferDestroy, &destroy), ignored);
  TF_DeleteStatus(ignored);
  return NULL;
}

PJRT_Buffer* CopyBuffer(PJRT_Buffer* buffer, TF_Status* status) {
  BufferDeviceArgs where = {{sizeof(where), NULL}, buffer, NULL};
  if (!Take(CallSlot(kBufferDevice, &where), status)) return NULL;
  CopyToDeviceArgs args = {{sizeof(args), NULL}, buffer, where.device, NULL};
  return Take(CallSlot(kBufferCopyToDevice, &args), status) ? args.copy : NULL;
}

CountOption DeviceCountOption(int count) {
  static const char kOption[] = "device_count";
  const CountOption option = {sizeof(option), NULL, kOption, sizeof(kOption) - 1, 1, count, 1};
  return option;
}
