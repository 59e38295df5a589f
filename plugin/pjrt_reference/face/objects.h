// The objects behind PJRT's opaque pointers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device.h"
#include "event.h"
#include "program.h"
#include "settings.h"

namespace pjref {

struct ErrorObject {
  Code code;
  std::string message;
};

struct EventObject {
  EventPtr state;
};

struct ClientObject;

struct MemoryObject {
  int id;
  std::string kind, text;
  std::vector<abi::Device*> devices;
};

struct DescriptionObject {
  int id;
  std::string kind, text;
};

struct DeviceObject {
  ClientObject* client;
  DevicePtr core;
  DescriptionObject description;
  MemoryObject memory;
  std::vector<abi::Memory*> memories;
};

// Must outlive the runs that it started. Buffers and executables may outlive it, but then may only
// be asked for what they hold themselves, deleted and destroyed: their `device` and `client` are
// gone.
struct ClientObject {
  Settings settings;
  std::vector<std::unique_ptr<DeviceObject>> devices;
  std::vector<abi::Device*> device_list;
  std::vector<abi::Memory*> memory_list;
  std::atomic<int64_t> executions{0};

  // Throws Refusal(kInternal) once the client is dead.
  void CheckAlive() const;
  DeviceObject* Find(int64_t id) const;  // null if there is none
};

struct BufferObject {
  DeviceObject* device;
  Type type;
  bool column_major = false;
  std::vector<int64_t> minor_to_major;
  Settings settings;  // of its client, for the events that it hands out

  // Guards the rest.
  std::mutex mutex;
  ValuePtr value;  // null: deleted or given away
  int64_t references = 0;

  // The value. Throws Refusal(kInvalidArgument) if it was deleted or given away.
  ValuePtr Get();
};

struct ExecutableObject {
  std::shared_ptr<const Program> program;
};

struct LoadedObject {
  std::shared_ptr<const Program> program;
  ClientObject* client;
  std::vector<abi::Device*> devices;
  std::atomic<bool> deleted{false};
};

struct SerializedObject {
  std::string bytes;
};

// Between PJRT's pointers and ours.
#define PJREF_OBJECT(Opaque, Object)                                                     \
  inline Object* Mine(abi::Opaque* object) { return reinterpret_cast<Object*>(object); } \
  inline const Object* Mine(const abi::Opaque* object) {                                 \
    return reinterpret_cast<const Object*>(object);                                      \
  }                                                                                      \
  inline abi::Opaque* Theirs(Object* object) { return reinterpret_cast<abi::Opaque*>(object); }
PJREF_OBJECT(Error, ErrorObject)
PJREF_OBJECT(Event, EventObject)
PJREF_OBJECT(Client, ClientObject)
PJREF_OBJECT(Device, DeviceObject)
PJREF_OBJECT(DeviceDescription, DescriptionObject)
PJREF_OBJECT(Memory, MemoryObject)
PJREF_OBJECT(Buffer, BufferObject)
PJREF_OBJECT(Executable, ExecutableObject)
PJREF_OBJECT(LoadedExecutable, LoadedObject)
PJREF_OBJECT(SerializedExecutable, SerializedObject)
#undef PJREF_OBJECT

// Throws Refusal(kInvalidArgument) for a null pointer among a struct's members.
template <typename Pointer>
void Need(Pointer pointer, const char* name) {
  if (!pointer) throw Refusal(Code::kInvalidArgument, std::string(name) + " is null");
}

// NewError, NewEvent and NewBuffer make objects that the host owns and destroys.
abi::Error* NewError(const Refusal& refusal);
// An event that is ready when `state` is; never, if `settings` say so of events of this kind.
abi::Event* NewEvent(EventPtr state, EventKinds kind, const Settings& settings);
// Throws Refusal(kInternal) if `settings` say that tasks of this kind fail.
void FailIfAsked(EventKinds kind, const Settings& settings);
// `column_major`: the buffer says that its axes lie in reverse order.
abi::Buffer* NewBuffer(DeviceObject* device, ValuePtr value, bool column_major = false);

}  // namespace pjref
