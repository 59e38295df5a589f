#include "plugin/host/devices/pluggable_device.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/base/annotate.h"
#include "graph/base/machine_memory.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/struct_size.h"
#include "graph/c_api/tensor_guards.h"
#include "plugin/host/devices/pluggable_device_impl.h"
#include "plugin/host/devices/struct_checks.h"
#include "plugin/host/strict/device_watch.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

// An event is polled so often without a pause, then with one: short kernels end within
// microseconds, and long ones should leave the core to others.
constexpr int kSpinPolls = 64;
constexpr auto kPollPause = std::chrono::microseconds(20);

// The part of the device's memory that may wait for copies from the host.
constexpr size_t kArrivalPart = 8;
// Host memory that one device's copies may take from the plug-in.
constexpr size_t kMostHostBytes = size_t{1} << 30;

std::string Text(const char* s) { return s == nullptr ? "" : s; }

}  // namespace

absl::Status PluggableDevice::Attributed(absl::Status status, std::string_view callback) const {
  if (status.ok()) return status;
  return Attribute(std::move(status), callback,
                   absl::StrCat(platform_->plugin(), ", ", short_name()));
}

absl::StatusOr<std::unique_ptr<PluggableDevice>> PluggableDevice::Create(
    std::shared_ptr<StreamExecutorPlatform> platform, int platform_ordinal, int ordinal) {
  std::unique_ptr<PluggableDevice> device(new PluggableDevice);
  device->platform_ = std::move(platform);
  device->platform_ordinal_ = platform_ordinal;
  device->ordinal_ = ordinal;
  // The plug-in may be built with later headers, whose SP_Device is larger.
  Padded<SP_Device> storage;
  storage.value.struct_size = PresetStructSize(SP_DEVICE_STRUCT_SIZE);
  SE_CreateDeviceParams params{};
  params.struct_size = SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE;
  params.ordinal = platform_ordinal;
  params.device = &storage.value;
  TENON_RETURN_IF_ERROR(device->CallWithStatus("create_device", [&](TF_Status* s) {
    device->platform_->platform_fns().create_device(device->platform_->platform(), &params, s);
  }));
  PluginDevice& made = *device->plugin_device_;
  made.platform = device->platform_;
  made.device = storage.value;
  made.name = device->short_name();
  made.created = true;  // from here on destroy_device is called, also after a failure below
  if (const SP_StreamExecutor* real = device->platform_->unwatched_se())
    WatchDevice(device.get(), &device->device_, device->platform_->plugin(), *real);
  const CallbackScope filled_by(device->platform_->plugin().c_str(), "create_device");
  TENON_RETURN_IF_ERROR(device->Attributed(
      CheckStructSize(device->device_.struct_size, "SP_Device", "SP_DEVICE_STRUCT_SIZE"),
      "create_device"));
  return device;
}

// Without the BFC allocator there is no limit to compute: `allocate` itself says when memory is
// short.
absl::Status PluggableDevice::Start() {
  owner_ = std::make_shared<Owner>();
  {
    absl::MutexLock lock(&owner_->mutex);
    owner_->device = this;
  }
  if (platform_->platform()->use_bfc_allocator) {
    TENON_RETURN_IF_ERROR(QueryMemory());
    MakeBfcAllocator();
  }
  QueryFacts();
  for (Stream& stream : streams_) TENON_RETURN_IF_ERROR(CreateStream(stream));
  if (platform_->unwatched_se() == nullptr) {
    if (bfc_ != nullptr) {
      arrivals_ = std::make_unique<ArrivalPool>(*this, *bfc_,
                                                static_cast<size_t>(memory_limit_) / kArrivalPart);
    }
    staging_ = std::make_unique<HostStaging>(
        *this,
        HostPool::Create(plugin_device_, std::min(kMostHostBytes, MachineMemoryBytes() / 8)));
  }
  return absl::OkStatus();
}

// Sets the limit as TensorFlow does: the free memory, less a reserve for others. The reserve
// is 255 MiB where less than 2 GiB are free, else 6 %, but at least 300 MiB.
absl::Status PluggableDevice::QueryMemory() {
  int64_t free = 0;
  int64_t total = 0;
  TF_Bool known = 0;
  TENON_RETURN_IF_ERROR(Call("device_memory_usage",
                             [&] { known = se().device_memory_usage(&device_, &free, &total); }));
  const char* const callback = "device_memory_usage";
  // TensorFlow's code and message.
  if (!known) {
    return Attributed(
        absl::UnknownError(absl::StrCat("Failed to query available memory for PluggableDevice ",
                                        platform_ordinal_)),
        callback);
  }
  if (free < 0) {
    return Attributed(absl::UnknownError(absl::StrCat("it answers that ", free, " bytes are free")),
                      callback);
  }
  constexpr int64_t kMiB = int64_t{1} << 20;
  const int64_t reserve = free < 2048 * kMiB ? 255 * kMiB : std::max(300 * kMiB, free / 100 * 6);
  memory_limit_ = free > reserve ? free - reserve : free;
  return absl::OkStatus();
}

void PluggableDevice::QueryFacts() {
  facts_.hardware_name = Text(device_.hardware_name);
  facts_.vendor = Text(device_.device_vendor);
  facts_.pci_bus_id = Text(device_.pci_bus_id);
  const SP_DeviceFns& fns = platform_->device_fns();
  // Facts are for reports: a callback that fails leaves one out, with a warning.
  if (fns.get_numa_node != nullptr) {
    WarnOf(Call("get_numa_node", [&] { facts_.numa_node = fns.get_numa_node(&device_); }));
  }
  if (fns.get_memory_bandwidth != nullptr) {
    WarnOf(Call("get_memory_bandwidth",
                [&] { facts_.memory_bandwidth = fns.get_memory_bandwidth(&device_); }));
  }
}

absl::Status PluggableDevice::CreateStream(Stream& stream) {
  TENON_RETURN_IF_ERROR(CallWithStatus(
      "create_stream", [&](TF_Status* s) { se().create_stream(&device_, &stream.handle, s); }));
  stream.created = true;
  return absl::OkStatus();
}

int PluggableDevice::MakeComputeStreams(int count) {
  absl::MutexLock lock(&making_mutex_);
  count = std::min(count, kMostComputeStreams);
  while (num_further_.load() + 1 < count && !makes_no_more_) {
    const absl::Status made = MakeFurtherStream();
    if (made.ok()) continue;
    makes_no_more_ = true;
    WarnOf(Annotate(made, "",
                    absl::StrCat("; kernels go on with ", num_further_.load() + 1, " of ", count,
                                 " compute streams")));
  }
  return std::min(count, num_further_.load() + 1);
}

absl::Status PluggableDevice::MakeFurtherStream() {
  auto stream = std::make_unique<FurtherStream>();
  TENON_RETURN_IF_ERROR(CreateStream(*stream));
  const int made = num_further_.load();
  if (bfc_ != nullptr) {
    BfcOptions options = OptionsOfMemory();
    absl::StrAppend(&options.name, " compute ", made + 1);
    stream->memory = std::make_unique<StreamMemory>(*this, stream->handle, std::move(options));
  }
  further_[made] = std::move(stream);
  num_further_.store(made + 1);
  return absl::OkStatus();
}

// The order matters: the streams are idle before memory is freed, memory and events go before the
// streams, and the plug-in's device goes last. Errors can only be warned of.
PluggableDevice::~PluggableDevice() {
  std::vector<Stream*> streams;
  for (Stream& stream : streams_) {
    if (stream.created) streams.push_back(&stream);
  }
  for (int i = 0; i < num_further_.load(); ++i) streams.push_back(further_[i].get());
  for (Stream* stream : streams) WarnOf(BlockUntilStreamDone(stream->handle));
  if (owner_ != nullptr) {
    absl::MutexLock lock(&owner_->mutex);
    owner_->device = nullptr;
  }
  staging_.reset();
  arrivals_.reset();
  for (void* data : TakeAllRetired()) FreeRegion(data, 0);
  for (int i = 0; i < num_further_.load(); ++i) further_[i]->memory.reset();
  if (chunk_watch_ != nullptr) TensorGuards::Get().ForgetAll(FarMemoryOf(this));
  bfc_.reset();
  {
    absl::MutexLock lock(&events_mutex_);
    for (const std::unique_ptr<Event>& event : events_) DestroyEvent(event.get());
  }
  for (Stream* stream : streams) {
    if (stream->handle == nullptr) continue;
    WarnOf(Call("destroy_stream", [&] { se().destroy_stream(&device_, stream->handle); }));
  }
  if (platform_->unwatched_se() != nullptr) EndDeviceWatch(&device_);
}

absl::Mutex* PluggableDevice::StreamMutex(StreamHandle handle) {
  for (Stream& stream : streams_) {
    if (stream.handle == handle) return &stream.mutex;
  }
  for (int i = 0; i < num_further_.load(); ++i) {
    if (further_[i]->handle == handle) return &further_[i]->mutex;
  }
  return &streams_[kCompute].mutex;  // another device's stream: any lock of this device serves
}

absl::Status PluggableDevice::StreamWaitsForStream(StreamHandle stream, StreamHandle other) {
  // The plug-in touches both. Those that lock two streams do so in the order of addresses.
  const auto [first, second] =
      std::minmax({StreamMutex(stream), StreamMutex(other)}, std::less<>());
  absl::MutexLock lock(first);
  absl::MutexLockMaybe also(first == second ? nullptr : second);
  return CallWithStatus("create_stream_dependency", [&](TF_Status* s) {
    se().create_stream_dependency(&device_, ToC(stream), ToC(other), s);
  });
}

// Tensors of strings, resources and variants own memory and are never copied byte by byte.
absl::Status PluggableDevice::CheckCopy(const Tensor& from, const Tensor& to) const {
  if (from.dtype() == to.dtype() && from.bytes() == to.bytes() && IsMemcpyable(from.dtype()))
    return absl::OkStatus();
  return absl::InternalError(
      absl::StrFormat("cannot copy a %s tensor of %d bytes to a %s tensor of %d bytes (%s)",
                      DataTypeName(from.dtype()), from.bytes(), DataTypeName(to.dtype()),
                      to.bytes(), short_name()));
}

absl::Status PluggableDevice::CopyHostToDevice(StreamHandle stream, const Tensor& host,
                                               const Tensor& device) {
  TENON_RETURN_IF_ERROR(CheckCopy(host, device));
  const size_t bytes = host.bytes();
  if (bytes == 0) return absl::OkStatus();
  if (staging_ != nullptr) {
    TENON_ASSIGN_OR_RETURN(const bool is_queued,
                           staging_->CopyIn(stream, host.data(), device.data(), bytes));
    if (is_queued) return absl::OkStatus();
  }
  return QueueToDevice(stream, host.data(), device.data(), bytes);
}

absl::Status PluggableDevice::QueueToDevice(StreamHandle stream, const void* host, void* device,
                                            size_t bytes) {
  SP_DeviceMemoryBase to = MemoryAt(device, bytes);
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("memcpy_htod", [&](TF_Status* s) {
    se().memcpy_htod(&device_, ToC(stream), &to, host, bytes, s);
  });
}

absl::Status PluggableDevice::CopyDeviceToHost(StreamHandle stream, const Tensor& device,
                                               const Tensor& host) {
  TENON_RETURN_IF_ERROR(CheckCopy(device, host));
  if (host.bytes() == 0) return absl::OkStatus();
  const SP_DeviceMemoryBase from = MemoryAt(device.data(), host.bytes());
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("memcpy_dtoh", [&](TF_Status* s) {
    se().memcpy_dtoh(&device_, ToC(stream), host.data(), &from, host.bytes(), s);
  });
}

absl::Status PluggableDevice::CopyDeviceToDevice(StreamHandle stream, const Tensor& from,
                                                 const Tensor& to) {
  TENON_RETURN_IF_ERROR(CheckCopy(from, to));
  if (from.bytes() == 0) return absl::OkStatus();
  if (se().memcpy_dtod == nullptr) {
    return Attributed(
        absl::UnimplementedError(
            "'memcpy_dtod' field in SP_StreamExecutor is not set: no copy inside the device"),
        "memcpy_dtod");
  }
  const SP_DeviceMemoryBase source = MemoryAt(from.data(), from.bytes());
  SP_DeviceMemoryBase target = MemoryAt(to.data(), from.bytes());
  absl::MutexLock lock(StreamMutex(stream));
  return CallWithStatus("memcpy_dtod", [&](TF_Status* s) {
    se().memcpy_dtod(&device_, ToC(stream), &target, &source, from.bytes(), s);
  });
}

// Asks for the status until `enough(status)`. All questions are within one scope of a callback: the
// watchdog then sees one long call, and times it as one.
template <typename Enough>
absl::StatusOr<SE_EventStatus> PluggableDevice::PollUntil(Event* event, Enough enough) {
  int status = SE_EVENT_UNKNOWN;  // an int, since a plug-in may answer a value outside of the enum
  const absl::Status asked = Call("get_event_status", [&] {
    do {
      const SE_EventStatus answer = se().get_event_status(&device_, event->handle);
      std::memcpy(&status, &answer, sizeof(status));
    } while (!enough(status));
  });
  if (!asked.ok()) event->broken = true;
  TENON_RETURN_IF_ERROR(asked);
  if (status == SE_EVENT_COMPLETE) event->pending = false;
  if (status == SE_EVENT_COMPLETE || status == SE_EVENT_PENDING)
    return static_cast<SE_EventStatus>(status);
  event->broken = true;
  return Attributed(
      absl::InternalError(absl::StrCat("Unexpected Event status: ", status,
                                       status == SE_EVENT_ERROR ? " (error)" : " (unknown)")),
      "get_event_status");
}

absl::StatusOr<SE_EventStatus> PluggableDevice::Poll(Event* event) {
  return PollUntil(event, [](int) { return true; });
}

absl::StatusOr<bool> PluggableDevice::IsComplete(EventHandle event) {
  TENON_ASSIGN_OR_RETURN(const SE_EventStatus status, Poll(static_cast<Event*>(event)));
  return status == SE_EVENT_COMPLETE;
}

absl::StatusOr<EventHandle> PluggableDevice::AcquireEvent() {
  {
    absl::MutexLock lock(&events_mutex_);
    // Asks about the oldest event only: if that one is pending, so are most of the others.
    if (idle_events_.empty() && !pending_events_.empty()) {
      Event* oldest = pending_events_.front();
      if (!Poll(oldest).ok() || !oldest->pending) {
        pending_events_.erase(pending_events_.begin());
        if (!oldest->broken) idle_events_.push_back(oldest);
      }
    }
    if (!idle_events_.empty()) {
      Event* event = idle_events_.back();
      idle_events_.pop_back();
      return event;
    }
  }
  auto event = std::make_unique<Event>();
  TENON_RETURN_IF_ERROR(CallWithStatus(
      "create_event", [&](TF_Status* s) { se().create_event(&device_, &event->handle, s); }));
  absl::MutexLock lock(&events_mutex_);
  // A plug-in that gives one handle twice would be asked to destroy it twice.
  event->is_twin = event->handle != nullptr &&
                   std::ranges::any_of(events_, [&](const std::unique_ptr<Event>& other) {
                     return other->handle == event->handle;
                   });
  events_.push_back(std::move(event));
  // So that ReleaseEvent never allocates.
  idle_events_.reserve(events_.size());
  pending_events_.reserve(events_.size());
  return events_.back().get();
}

// A pending event goes to its own list: to record it again would be an error of the host.
void PluggableDevice::ReleaseEvent(EventHandle handle) {
  Event* event = static_cast<Event*>(handle);
  absl::MutexLock lock(&events_mutex_);
  if (event->broken) return;  // it is destroyed with the device
  (event->pending ? pending_events_ : idle_events_).push_back(event);
}

void PluggableDevice::DestroyEvent(Event* event) {
  if (event->is_twin) return;
  WarnOf(Call("destroy_event", [&] { se().destroy_event(&device_, event->handle); }));
}

absl::Status PluggableDevice::RecordEvent(StreamHandle stream, EventHandle handle) {
  Event* event = static_cast<Event*>(handle);
  absl::MutexLock lock(StreamMutex(stream));
  absl::Status status = CallWithStatus("record_event", [&](TF_Status* s) {
    se().record_event(&device_, ToC(stream), event->handle, s);
  });
  if (status.ok()) event->pending = true;
  return status;
}

// Polls, since block_host_for_event has no time limit: a device that hangs costs the caller its
// time limit, not its thread.
absl::Status PluggableDevice::BlockUntilComplete(EventHandle handle, double timeout_s) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeout_s));
  const RunLimits* const limits = LimitsOfThread();
  const auto is_over = [&] { return limits != nullptr && limits->is_over(); };
  int polls = 0;
  const auto enough = [&](int status) {
    if (status != SE_EVENT_PENDING) return true;
    if (++polls <= kSpinPolls) {
      sched_yield();
      return false;
    }
    if (Clock::now() >= deadline || is_over()) return true;
    std::this_thread::sleep_for(kPollPause);
    return false;
  };
  TENON_ASSIGN_OR_RETURN(const SE_EventStatus status,
                         PollUntil(static_cast<Event*>(handle), enough));
  if (status == SE_EVENT_COMPLETE) return absl::OkStatus();
  if (is_over()) return limits->Check();
  return Attributed(absl::DeadlineExceededError(
                        absl::StrFormat("an event is still pending after %g s", timeout_s)),
                    "get_event_status");
}

absl::Status PluggableDevice::SynchronizeAllActivity() {
  TENON_RETURN_IF_ERROR(CallWithStatus("synchronize_all_activity", [&](TF_Status* s) {
    se().synchronize_all_activity(&device_, s);
  }));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> CreatePluggableDevices(
    std::shared_ptr<StreamExecutorPlatform> platform, int first_ordinal) {
  std::vector<std::unique_ptr<PluggableDevice>> devices;
  std::string why;
  const int count = platform->DeviceCount(&why);
  if (!why.empty()) {
    WarnOf(absl::FailedPreconditionError(
        absl::StrCat("plug-in ", platform->plugin(), " has no device: ", why)));
  }
  for (int i = 0; i < count; ++i) {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<PluggableDevice> device,
                           PluggableDevice::Create(platform, i, first_ordinal + i));
    devices.push_back(std::move(device));
  }
  for (const auto& device : devices) TENON_RETURN_IF_ERROR(device->Start());
  return std::vector<std::unique_ptr<Device>>(std::make_move_iterator(devices.begin()),
                                              std::make_move_iterator(devices.end()));
}

const DeviceFacts* FactsOf(const Device& device) {
  const auto* pluggable = dynamic_cast<const PluggableDevice*>(&device);
  return pluggable == nullptr ? nullptr : &pluggable->facts();
}

HostStagingFacts PluggableDevice::staging_facts() const {
  if (staging_ != nullptr) return staging_->facts();
  return {.mode = "off", .why = "strict mode watches the memory of every copy"};
}

std::optional<HostStagingFacts> HostStagingOf(const Device& device) {
  const auto* pluggable = dynamic_cast<const PluggableDevice*>(&device);
  return pluggable == nullptr ? std::nullopt : std::optional(pluggable->staging_facts());
}

}  // namespace tenon
