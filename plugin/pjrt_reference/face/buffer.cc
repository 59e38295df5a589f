// Buffers: made from host memory, read, copied, deleted.
#include <algorithm>
#include <cstring>
#include <utility>

#include "../ops/strided.h"
#include "functions.h"
#include "objects.h"

namespace pjref::functions {

using namespace tenon::pjrt::abi;  // The structs' names.

namespace {

Type TypeOf(int element, const int64_t* dims, size_t rank) {
  const Type type = {static_cast<Element>(element), rank ? Dims(dims, dims + rank) : Dims()};
  if (!IsNumber(type.element)) {
    throw Refusal(
        element == kInvalid ? Code::kInvalidArgument : Code::kUnimplemented,
        "buffers with elements of type " + std::to_string(element) + " are not supported");
  }
  for (int64_t dim : type.dims) {
    if (dim < 0) throw Refusal(Code::kInvalidArgument, "invalid shape: " + ToString(type.dims));
  }
  if (!FitsMemory(type))
    throw Refusal(Code::kInvalidArgument,
                  "the shape has too many elements: " + ToString(type.dims));
  return type;
}

DeviceObject* Where(ClientObject* client, abi::Device* device, abi::Memory* memory) {
  if (device) return Mine(device);
  if (memory && !Mine(memory)->devices.empty()) return Mine(Mine(memory)->devices[0]);
  if (client->devices.empty()) throw Refusal(Code::kInvalidArgument, "the client has no device");
  return client->devices[0].get();
}

Dims RowMajorOrder(int64_t rank) {
  Dims order;
  for (int64_t i = rank; i-- > 0;) order.push_back(i);
  return order;
}

// The order in which a layout has the axes, the fastest first. Steps must be those of some order.
Dims OrderOf(const MemoryLayout* layout, const Type& type) {
  if (!layout) return RowMajorOrder(type.rank());
  if (layout->type == MemoryLayout::kStrides) {
    const Dims strides(layout->strides.byte_strides,
                       layout->strides.byte_strides + layout->strides.rank);
    if (static_cast<int64_t>(strides.size()) != type.rank())
      throw Refusal(Code::kInvalidArgument, "the layout has another rank than the buffer");
    Dims order = RowMajorOrder(type.rank());
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return strides[a] < strides[b]; });
    auto step = static_cast<int64_t>(ByteSize(type.element));
    for (int64_t axis : order) {
      if (strides[axis] != step && type.dims[axis] > 1)
        throw Refusal(Code::kUnimplemented, "layouts with gaps are not supported");
      step *= type.dims[axis];
    }
    return order;
  }
  if (layout->tiled.num_tiles > 0)
    throw Refusal(Code::kUnimplemented, "tiled layouts are not supported");
  Dims order(layout->tiled.minor_to_major, layout->tiled.minor_to_major + layout->tiled.rank);
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < static_cast<int64_t>(sorted.size()); ++i) {
    if (sorted[i] != i) throw Refusal(Code::kInvalidArgument, "minor_to_major is no order of axes");
  }
  if (static_cast<int64_t>(order.size()) != type.rank())
    throw Refusal(Code::kInvalidArgument, "the layout has another rank than the buffer");
  return order;
}

// Steps of the axes, in elements, of an array that lies in `order`.
Dims StepsOf(const Dims& dims, const Dims& order) {
  Dims steps(dims.size());
  int64_t step = 1;
  for (int64_t axis : order) {
    steps[axis] = step;
    step *= dims[axis];
  }
  return steps;
}

// The task of an asynchronous transfer. `body` may throw; `value` is the buffer that it makes, if
// any.
std::function<void()> Transfer(const Settings& settings, EventPtr done, ValuePtr value,
                               std::function<void()> body) {
  return [&settings, done = std::move(done), value = std::move(value),
          body = std::move(body)]() mutable {
    Outcome outcome;
    try {
      FailIfAsked(kTransfers, settings);
      body();
    } catch (const Refusal& refusal) {
      outcome = refusal;
    } catch (const std::exception& error) {
      outcome = Refusal(Code::kInternal, error.what());
    }
    body = nullptr;  // What the task held is free when the event says that it is done.
    if (value) value->ready()->Set(outcome);
    value.reset();
    if (done) done->Set(outcome);
  };
}

void Wait(const ValuePtr& value) {
  if (const Outcome outcome = value->ready()->Await()) throw Refusal(*outcome);
}

void CheckHostArgs(const ClientBufferFromHostBufferArgs& args) {
  Need(args.client, "client");
  Mine(args.client)->CheckAlive();
  if (args.semantics < kOnlyDuringCall || args.semantics > kMutableZeroCopy) {
    throw Refusal(Code::kInvalidArgument, "the host buffer semantics are unknown");
  }
  if (args.byte_strides && args.num_byte_strides != args.rank) {
    throw Refusal(Code::kInvalidArgument, "byte_strides must have an element for each dimension");
  }
}

}  // namespace

void Client_BufferFromHostBuffer(ClientBufferFromHostBufferArgs* args) {
  CheckHostArgs(*args);
  ClientObject* client = Mine(args->client);
  const Type type = TypeOf(args->type, args->dims, args->rank);
  if (type.count() > 0) Need(args->data, "data");
  const auto size = static_cast<int64_t>(ByteSize(type.element));
  Dims steps = StepsOf(type.dims, OrderOf(args->layout, type));
  for (int64_t& step : steps) step *= size;
  if (args->byte_strides) steps.assign(args->byte_strides, args->byte_strides + args->rank);
  Dims dense = StridesOf(type.dims);
  for (int64_t& step : dense) step *= size;
  const bool is_dense = steps == dense || type.count() <= 1;
  DeviceObject* device = Where(client, args->device, args->memory);
  const bool wraps = args->semantics >= kZeroCopy && is_dense && type.count() > 0 &&
                     reinterpret_cast<uintptr_t>(args->data) % 64 == 0;
  auto value = std::make_shared<Value>(device->core, type, wraps);
  auto* data = static_cast<char*>(const_cast<void*>(args->data));
  auto done = std::make_shared<EventState>();
  if (wraps) {
    value->array = Array(type, std::make_shared<Storage>(data, type.bytes(), nullptr));
    value->donatable = args->semantics == kMutableZeroCopy;
    value->released = done;
    value->ready()->Set(std::nullopt);
  } else {
    const auto copy = [=, to = value.get()] {
      to->array = Array(type);
      if (is_dense) {
        std::memcpy(to->array.data(), data, type.bytes());
      } else {  // Bytes, so that strides need not be multiples of the element's size.
        Dims dims = type.dims, from = steps, at = dense;
        dims.push_back(size);
        from.push_back(1);
        at.push_back(1);
        CopyStrided(data, from, to->array.data(), at, dims, 1);
      }
    };
    auto task = Transfer(client->settings, done, value, copy);
    if (args->semantics == kUntilTransferCompletes) {
      device->core->Queue(kTransfers, std::move(task));
    } else {
      task();
    }
  }
  args->done_with_host_data = NewEvent(done, kTransfers, client->settings);
  args->buffer = NewBuffer(device, std::move(value));
}

void Client_CreateViewOfDeviceBuffer(ClientCreateViewArgs* args) {
  Need(args->client, "client");
  Mine(args->client)->CheckAlive();
  const Type type = TypeOf(args->type, args->dims, args->rank);
  if (OrderOf(args->layout, type) != RowMajorOrder(type.rank()))
    throw Refusal(Code::kUnimplemented, "views must be row major");
  DeviceObject* device = Where(Mine(args->client), args->device, args->memory);
  auto value = std::make_shared<Value>(device->core, type, /*foreign=*/true);
  const std::shared_ptr<void> keeper(
      args->data, [on_delete = args->on_delete, arg = args->on_delete_arg](void* data) {
        if (on_delete != nullptr) on_delete(data, arg);
      });
  value->array = Array(type, std::make_shared<Storage>(args->data, type.bytes(), keeper));
  value->donatable = false;
  value->ready()->Set(std::nullopt);
  args->buffer = NewBuffer(device, std::move(value));
}

void Client_CreateUninitializedBuffer(ClientCreateUninitializedArgs* args) {
  Need(args->client, "client");
  Mine(args->client)->CheckAlive();
  const Type type = TypeOf(args->type, args->dims, args->rank);
  DeviceObject* device = Where(Mine(args->client), args->device, args->memory);
  auto value = std::make_shared<Value>(device->core, type);
  value->array = Array(type);
  std::memset(value->array.data(), 0xA5, type.bytes());
  value->ready()->Set(std::nullopt);
  args->buffer = NewBuffer(device, std::move(value));
}

void Buffer_Destroy(BufferArgs* args) { delete Mine(args->buffer); }

void Buffer_Delete(BufferArgs* args) {
  Need(args->buffer, "buffer");
  ValuePtr gone;
  const std::lock_guard<std::mutex> lock(Mine(args->buffer)->mutex);
  gone.swap(Mine(args->buffer)->value);
}

void Buffer_IsDeleted(BufferFlagArgs* args) {
  Need(args->buffer, "buffer");
  const std::lock_guard<std::mutex> lock(Mine(args->buffer)->mutex);
  args->flag = Mine(args->buffer)->value == nullptr;
}

void Buffer_IsOnCpu(BufferFlagArgs* args) { args->flag = true; }

void Buffer_ElementType(BufferElementTypeArgs* args) {
  Need(args->buffer, "buffer");
  args->type = static_cast<ElementType>(Mine(args->buffer)->type.element);
}

void Buffer_Dimensions(BufferDimensionsArgs* args) {
  Need(args->buffer, "buffer");
  const Type& type = Mine(args->buffer)->type;
  args->dims = type.dims.data();
  args->rank = type.dims.size();
}

void Buffer_UnpaddedDimensions(BufferDimensionsArgs* args) { Buffer_Dimensions(args); }

void Buffer_DynamicDimensionIndices(BufferDynamicAxesArgs* args) {
  args->axes = nullptr;
  args->num_axes = 0;
}

void Buffer_GetMemoryLayout(BufferLayoutArgs* args) {
  Need(args->buffer, "buffer");
  const BufferObject* buffer = Mine(args->buffer);
  args->layout = {};
  args->layout.head.struct_size = kStructSize<MemoryLayout>;
  args->layout.type = MemoryLayout::kTiled;
  args->layout.tiled.head.struct_size = kStructSize<MemoryLayout::Tiled>;
  args->layout.tiled.minor_to_major = buffer->minor_to_major.data();
  args->layout.tiled.rank = buffer->minor_to_major.size();
}

void Buffer_OnDeviceSizeInBytes(BufferSizeArgs* args) {
  Need(args->buffer, "buffer");
  args->bytes = Mine(args->buffer)->type.bytes();
}

void Buffer_Device(BufferDeviceArgs* args) {
  Need(args->buffer, "buffer");
  args->device = Theirs(Mine(args->buffer)->device);
}

void Buffer_Memory(BufferMemoryArgs* args) {
  Need(args->buffer, "buffer");
  args->memory = Theirs(&Mine(args->buffer)->device->memory);
}

void Buffer_ReadyEvent(BufferReadyEventArgs* args) {
  Need(args->buffer, "buffer");
  BufferObject* buffer = Mine(args->buffer);
  const ValuePtr value = buffer->Get();
  args->event = NewEvent(value->ready(), value->origin, buffer->settings);
}

void Buffer_OpaqueDeviceMemoryDataPointer(BufferPointerArgs* args) {
  Need(args->buffer, "buffer");
  const ValuePtr value = Mine(args->buffer)->Get();
  Wait(value);
  args->pointer = (value->column_major.defined() ? value->column_major : value->array).data();
}

void Buffer_UnsafePointer(BufferUnsafePointerArgs* args) {
  BufferPointerArgs asked = {args->head, args->buffer, nullptr};
  Buffer_OpaqueDeviceMemoryDataPointer(&asked);
  args->pointer = reinterpret_cast<uintptr_t>(asked.pointer);
}

// The memory of a buffer that is referenced from outside is not given away.
void Buffer_IncreaseExternalReferenceCount(BufferArgs* args) {
  Need(args->buffer, "buffer");
  Mine(args->buffer)->Get();
  const std::lock_guard<std::mutex> lock(Mine(args->buffer)->mutex);
  ++Mine(args->buffer)->references;
}

void Buffer_DecreaseExternalReferenceCount(BufferArgs* args) {
  Need(args->buffer, "buffer");
  const std::lock_guard<std::mutex> lock(Mine(args->buffer)->mutex);
  if (Mine(args->buffer)->references == 0)
    throw Refusal(Code::kInvalidArgument, "the buffer has no external reference");
  --Mine(args->buffer)->references;
}

void Buffer_ToHostBuffer(BufferToHostArgs* args) {
  Need(args->buffer, "buffer");
  BufferObject* buffer = Mine(args->buffer);
  const Type type = buffer->type;
  if (!args->data) {
    args->size = type.bytes();
    args->event = nullptr;
    return;
  }
  if (args->size < type.bytes()) {
    throw Refusal(Code::kInvalidArgument, "the destination has " + std::to_string(args->size) +
                                              " bytes, but " + std::to_string(type.bytes()) +
                                              " are needed");
  }
  const Dims order = args->layout ? OrderOf(args->layout, type) : buffer->minor_to_major;
  const ValuePtr value = buffer->Get();
  auto done = std::make_shared<EventState>();
  auto* to = static_cast<char*>(args->data);
  const auto copy = [value, order, to] {
    Wait(value);
    const Type& held = value->type();
    CopyStrided(value->array.data(), StridesOf(held.dims), to, StepsOf(held.dims, order), held.dims,
                ByteSize(held.element));
  };
  value->device()->Queue(kTransfers,
                         Transfer(buffer->device->client->settings, done, nullptr, copy));
  args->event = NewEvent(done, kTransfers, buffer->settings);
}

void Buffer_CopyToDevice(BufferCopyToDeviceArgs* args) {
  Need(args->buffer, "buffer");
  Need(args->device, "dst_device");
  BufferObject* buffer = Mine(args->buffer);
  DeviceObject* device = Mine(args->device);
  const ValuePtr from = buffer->Get();
  auto value = std::make_shared<Value>(device->core, from->type());
  const auto copy = [from, to = value.get()] {
    Wait(from);
    to->array = Array(from->type());
    std::memcpy(to->array.data(), from->array.data(), from->array.bytes());
  };
  device->core->Queue(kTransfers, Transfer(device->client->settings, nullptr, value, copy));
  args->copy = NewBuffer(device, std::move(value));
}

void Buffer_CopyToMemory(BufferCopyToMemoryArgs* args) {
  Need(args->memory, "dst_memory");
  BufferCopyToDeviceArgs asked = {args->head, args->buffer, Mine(args->memory)->devices[0],
                                  nullptr};
  Buffer_CopyToDevice(&asked);
  args->copy = asked.copy;
}

}  // namespace pjref::functions
