// Device memory of a plug-in: regions for the BFC allocator, or one allocation per tensor with
// delayed release.
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_guards.h"
#include "plugin/host/devices/pluggable_device_impl.h"
#include "plugin/host/strict/device_watch.h"

namespace tenon {
namespace {

// The number of tensors that wait for one event, so that each costs a fraction of an event.
constexpr size_t kRetireBatch = 32;

// Puts zones around the chunks of a device in strict mode. A chunk that was given back is frozen: a
// write to it is a violation.
class GuardedChunks final : public ChunkWatch {
 public:
  explicit GuardedChunks(FarMemory* memory) : memory_(memory) {}
  void Given(void* data, size_t bytes) override {
    TensorGuards::Get().Surround(memory_, data, bytes);
  }
  void Returned(void* data) override { TensorGuards::Get().Retire(memory_, data); }
  void Rested(void* data) override { TensorGuards::Get().Forget(memory_, data); }
  // A plug-in that gives a tensor back may hold the locks that its copies need.
  bool IsFree() const override { return CurrentCallback() == nullptr; }

 private:
  FarMemory* const memory_;
};

}  // namespace

BfcOptions PluggableDevice::OptionsOfMemory() const {
  BfcOptions options;
  options.limit_bytes = static_cast<size_t>(memory_limit_);
  options.grow = platform_->platform()->force_memory_growth != 0;
  options.name = short_name();
  options.watch = chunk_watch_;
  if (chunk_watch_ != nullptr) options.zone = TensorGuards::kZone;
  return options;
}

void PluggableDevice::MakeBfcAllocator() {
  if (FarMemory* const memory = FarMemoryOf(this))
    chunk_watch_ = std::make_shared<GuardedChunks>(memory);
  bfc_ = std::make_unique<BfcAllocator>(this, OptionsOfMemory());
}

absl::StatusOr<BufferRef> PluggableDevice::Allocate(size_t bytes) {
  if (bfc_ == nullptr) return AllocateSingle(bytes);
  absl::StatusOr<BufferRef> buffer = bfc_->Allocate(bytes);
  if (!buffer.ok() && arrivals_ != nullptr && arrivals_->Drop()) buffer = bfc_->Allocate(bytes);
  return buffer;
}

absl::StatusOr<BufferRef> PluggableDevice::AllocateOn(int number, size_t bytes) {
  if (number == 0 || bfc_ == nullptr) return Allocate(bytes);
  return further_[number - 1]->memory->Allocate(bytes);
}

// What AllocateSingle returns is idle: what queued work may use is not deallocated yet.
absl::StatusOr<BufferRef> PluggableDevice::AllocateForArrival(StreamHandle stream, size_t bytes) {
  if (arrivals_ != nullptr) return arrivals_->Allocate(stream, bytes);
  if (bfc_ == nullptr) return AllocateSingle(bytes);
  return Device::AllocateForArrival(stream, bytes);
}

absl::StatusOr<void*> PluggableDevice::AllocateRegion(size_t bytes) {
  SP_DeviceMemoryBase memory{};
  memory.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  TENON_RETURN_IF_ERROR(Call("allocate", [&] { se().allocate(&device_, bytes, 0, &memory); }));
  return memory.opaque;
}

void PluggableDevice::FreeRegion(void* data, size_t) {
  // The address is all that the plug-in gets back: size and payload are 0, as in TensorFlow.
  SP_DeviceMemoryBase memory{SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, nullptr, data, 0, 0};
  WarnOf(Call("deallocate", [&] { se().deallocate(&device_, &memory); }));
}

absl::StatusOr<BufferRef> PluggableDevice::AllocateSingle(size_t bytes) {
  if (bytes == 0) return BufferRef::Adopt(Buffer::Wrap(nullptr, 0, nullptr, nullptr));
  FreeRetired();
  TENON_ASSIGN_OR_RETURN(void* data, AllocateRegion(bytes));
  if (data == nullptr) {  // tries again with the memory that only waits to be freed
    absl::MutexLock freeing(&freeing_mutex_);
    TENON_RETURN_IF_ERROR(FreeWhenIdle(TakeAllRetired()));
    TENON_ASSIGN_OR_RETURN(data, AllocateRegion(bytes));
  }
  if (data == nullptr) {
    return Attributed(
        absl::ResourceExhaustedError(absl::StrCat("out of memory: ", bytes, " bytes asked for")),
        "allocate");
  }
  if (AbiWatch::Active() != nullptr)
    TensorGuards::Get().AttributeToCurrentCall(FarMemoryOf(this), data);
  return BufferRef::Adopt(
      Buffer::OfDevice(data, bytes, ReleaseSingle, new std::shared_ptr<Owner>(owner_)));
}

void PluggableDevice::ReleaseSingle(void* data, size_t, void* arg) {
  const std::unique_ptr<std::shared_ptr<Owner>> owner(static_cast<std::shared_ptr<Owner>*>(arg));
  absl::MutexLock lock(&(*owner)->mutex);
  // A buffer may outlive its device. The plug-in's deallocate may not be called after
  // destroy_device, which has to free what is left.
  if ((*owner)->device != nullptr) (*owner)->device->Retire(data);
}

// Frees memory later. Queued kernels may still use a tensor without references, and `deallocate`
// frees at once; so the memory waits until each compute stream has passed an event.
void PluggableDevice::Retire(void* data) {
  std::vector<void*> batch;
  {
    absl::MutexLock lock(&retired_mutex_);
    retiring_.push_back(data);
    if (retiring_.size() < kRetireBatch) return;
    batch.swap(retiring_);
  }
  auto events = EventsOfComputeStreams();
  if (events.ok()) {
    absl::MutexLock lock(&retired_mutex_);
    retired_.push_back({*std::move(events), std::move(batch)});
    return;
  }
  // Without events the only safe point is an idle device.
  FreeWhenIdle(batch).IgnoreError();  // after an error the memory still waits
}

// An event on each compute stream, behind the work that is queued there now.
absl::StatusOr<absl::InlinedVector<PluggableDevice::Event*, 1>>
PluggableDevice::EventsOfComputeStreams() {
  absl::InlinedVector<Event*, 1> events;
  absl::Status status;
  for (int i = 0; status.ok() && i <= num_further_.load(); ++i) {
    absl::StatusOr<EventHandle> event = AcquireEvent();
    status = event.status();
    if (!status.ok()) break;
    events.push_back(static_cast<Event*>(*event));
    status = RecordEvent(compute_stream_at(i), *event);
  }
  if (status.ok()) return events;
  Release(events);
  return status;
}

void PluggableDevice::Release(absl::Span<Event* const> events) {
  for (Event* event : events) ReleaseEvent(event);
}

absl::StatusOr<bool> PluggableDevice::IsOver(absl::Span<Event* const> events) {
  for (Event* event : events) {
    TENON_ASSIGN_OR_RETURN(const SE_EventStatus status, Poll(event));
    if (status != SE_EVENT_COMPLETE) return false;
  }
  return true;
}

// Waits until the device is idle, and frees the memory. It must have been given back before: work
// that is queued during the wait may use what comes back after it. If the wait fails, the memory
// waits for the next try.
absl::Status PluggableDevice::FreeWhenIdle(const std::vector<void*>& memory) {
  absl::Status idle = SynchronizeAllActivity();
  if (idle.ok()) {
    for (void* data : memory) FreeRegion(data, 0);
    return idle;
  }
  absl::MutexLock lock(&retired_mutex_);
  retiring_.insert(retiring_.end(), memory.begin(), memory.end());
  return idle;
}

// Takes the oldest batch out if its events are complete. Events of one stream complete in order.
// For an event that is broken an idle device has to do. The plug-in is asked without the lock:
// others must not wait for it.
std::optional<PluggableDevice::Retired> PluggableDevice::TakeRetired() {
  absl::InlinedVector<Event*, 1> events;
  {
    absl::MutexLock lock(&retired_mutex_);
    if (retired_.empty()) return std::nullopt;
    events = retired_.front().events;
  }
  const absl::StatusOr<bool> asked = IsOver(events);
  const bool over = asked.ok() ? *asked : SynchronizeAllActivity().ok();
  if (!over) return std::nullopt;
  absl::MutexLock lock(&retired_mutex_);
  Retired oldest = std::move(retired_.front());
  retired_.pop_front();
  return oldest;
}

// Takes out all memory that waits, whatever its events say.
std::vector<void*> PluggableDevice::TakeAllRetired() {
  std::deque<Retired> batches;
  std::vector<void*> memory;
  {
    absl::MutexLock lock(&retired_mutex_);
    batches.swap(retired_);
    memory.swap(retiring_);
  }
  for (const Retired& batch : batches) {
    memory.insert(memory.end(), batch.memory.begin(), batch.memory.end());
    Release(batch.events);
  }
  return memory;
}

// Frees the memory whose event is complete. Does nothing while another thread does.
void PluggableDevice::FreeRetired() {
  if (!freeing_mutex_.TryLock()) return;
  while (const std::optional<Retired> batch = TakeRetired()) {
    for (void* data : batch->memory) FreeRegion(data, 0);
    Release(batch->events);
  }
  freeing_mutex_.Unlock();
}

}  // namespace tenon
