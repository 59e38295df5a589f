#include "objects.h"

namespace pjref {

void ClientObject::CheckAlive() const {
  if (settings.executions > 0 && executions.load() >= settings.executions) {
    throw Refusal(Code::kInternal, "the client is dead: an earlier execution broke it");
  }
}

DeviceObject* ClientObject::Find(int64_t id) const {
  for (const auto& device : devices) {
    if (device->description.id == id) return device.get();
  }
  return nullptr;
}

ValuePtr BufferObject::Get() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!value) throw Refusal(Code::kInvalidArgument, "the buffer has been deleted or donated");
  return value;
}

abi::Error* NewError(const Refusal& refusal) {
  return Theirs(new ErrorObject{refusal.code(), refusal.what()});
}

abi::Event* NewEvent(EventPtr state, EventKinds kind, const Settings& settings) {
  if (settings.unready_events & kind) state = std::make_shared<EventState>();
  return Theirs(new EventObject{std::move(state)});
}

void FailIfAsked(EventKinds kind, const Settings& settings) {
  if (!(settings.failing_events & kind)) return;
  throw Refusal(Code::kInternal, kind == kTransfers ? "the transfer was asked to fail"
                                                    : "the execution was asked to fail");
}

abi::Buffer* NewBuffer(DeviceObject* device, ValuePtr value, bool column_major) {
  auto* buffer = new BufferObject;
  buffer->device = device;
  buffer->type = value->type();
  buffer->settings = device->client->settings;
  buffer->column_major = column_major;
  for (int64_t i = 0; i < buffer->type.rank(); ++i) {
    buffer->minor_to_major.push_back(column_major ? i : buffer->type.rank() - 1 - i);
  }
  buffer->value = std::move(value);
  return Theirs(buffer);
}

}  // namespace pjref
