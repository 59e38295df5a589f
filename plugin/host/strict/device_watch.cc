#include "plugin/host/strict/device_watch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/struct_size.h"
#include "plugin/host/strict/far_memory.h"
#include "plugin/host/strict/stream_marks.h"

namespace tenon {
namespace {

// Makes `into` know what either clock knew: the larger count of each stream.
void Join(const StreamClock& from, StreamClock& into) {
  for (const auto& [stream, count] : from) {
    uint64_t& known = into[stream];
    known = std::max(known, count);
  }
}

// The call during which a block, stream or event was made, to name it in a report.
struct Maker {
  std::string callback, node;
};

// Copies the names, since the record of the call ends with the call.
Maker CurrentMaker() {
  const CallbackInfo* call = CurrentCallback();
  return call == nullptr ? Maker() : Maker{call->callback, std::string(call->node)};
}

struct Block {
  uint64_t size = 0;  // bytes that were asked for
  Maker maker;
  StreamClock used;   // the last work on each stream that uses the block
  uint64_t zone = 0;  // bytes on each side that nobody asked for
};
// By address, so that the block around any address is found.
using Blocks = std::map<uintptr_t, Block>;

struct Stream {
  Maker maker;
  int count = 0;  // a plug-in may, wrongly, give one handle to several
};

struct Event {
  Maker maker;
  bool recorded = false;
  StreamClock at;  // the work before its last record
};

uintptr_t Number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

// The last block that [address, address + size) touches; null if none. An empty block or range
// counts as one byte, so that two blocks at one address are seen.
template <typename Map>
auto Touched(Map& blocks, uintptr_t address, uint64_t size) -> decltype(&*blocks.begin()) {
  auto next = blocks.lower_bound(address + std::max<uint64_t>(size, 1));
  if (next == blocks.begin()) return nullptr;
  auto& [start, block] = *--next;
  return address < start + std::max<uint64_t>(block.size, 1) ? &*next : nullptr;
}

constexpr char kNoEvent[] = "an event is used that is not there: destroyed, or never created";

// To the call in progress. Without a watch there is nobody to tell: it was switched off meanwhile.
void Report(std::string_view rule, std::string detail) {
  if (AbiWatch* watch = AbiWatch::Active()) watch->Report(rule, std::move(detail));
}

// The clocks of all streams. A stream may wait for one of another device, so all devices share this
// state and its lock. Each stream's clock holds the work that is done when the stream gets to its
// present end: its own, and that of streams it waited for.
struct Shared {
  absl::Mutex mutex;
  absl::flat_hash_map<SP_Stream, StreamClock> streams ABSL_GUARDED_BY(mutex);
  // The marks of streams that exist. Those of destroyed streams are kept in old_marks, for
  // callbacks that come late.
  absl::flat_hash_map<SP_Stream, std::shared_ptr<StreamMarks>> marks ABSL_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<StreamMarks>> old_marks ABSL_GUARDED_BY(mutex);
  StreamClock host ABSL_GUARDED_BY(mutex);  // the work of which the host has seen the end
};
Shared& TheShared() {
  static auto* const shared = new Shared;
  return *shared;
}

class Watch final : public DeviceWatch {
 public:
  Watch(const Device* device, const SP_Device* handle, std::string plugin,
        const SP_StreamExecutor& real)
      : DeviceWatch(real),
        device_(device),
        plugin_(std::move(plugin)),
        copies_(plugin_, handle, real) {}

  const Device* device() const { return device_; }
  CopiedMemory& copies() { return copies_; }

  void Allocated(const SP_DeviceMemoryBase& memory, uint64_t asked, uint64_t zone) override {
    if (memory.opaque == nullptr) return;
    WatchStructSize(memory.struct_size, "SP_DeviceMemoryBase", "SP_DEVICE_MEMORY_BASE_STRUCT_SIZE");
    if (Note(memory, asked, zone) && zone > 0)
      TensorGuards::Get().Surround(&copies_, memory.opaque, asked);
  }
  // Records a block. False if it overlaps another one: zones around it would overwrite that one.
  bool Note(const SP_DeviceMemoryBase& memory, uint64_t asked, uint64_t zone) {
    absl::MutexLock lock(&shared_.mutex);
    const uintptr_t address = Number(memory.opaque);
    if (address % kTensorAlignment != 0) {
      Report("misaligned",
             absl::StrFormat("it gives out %d bytes at %p, which is no multiple of %d", asked,
                             memory.opaque, kTensorAlignment));
    }
    bool alone = false;
    if (const auto* other = Touched(blocks_, address, asked)) {
      Report("reuse_before_free",
             absl::StrFormat("it gives out %d bytes at %p, where %d bytes at %p%s are in use",
                             asked, memory.opaque, other->second.size,
                             reinterpret_cast<void*>(other->first), ForNode(other->second)));
    } else if (Touched(host_blocks_, address, asked) != nullptr) {
      Report("host_pointer", absl::StrFormat("its device memory at %p is what "
                                             "host_memory_allocate gave out",
                                             memory.opaque));
    } else {
      alone = true;
    }
    blocks_[address] = {asked, CurrentMaker(), {}, zone};
    return alone;
  }

  std::optional<uint64_t> Freed(const void* address) override {
    // Before the lock: the last check of the tensor copies from the device.
    TensorGuards::Get().Forget(&copies_, address);
    absl::MutexLock lock(&shared_.mutex);
    const auto found = blocks_.find(Number(address));
    if (found == blocks_.end()) {
      Report("double_free", absl::StrFormat("%p is freed, which allocate did not give out or "
                                            "deallocate took back already",
                                            address));
      return std::nullopt;
    }
    // One report is enough: a plug-in frees under the same rule for every stream.
    for (const auto& [stream, count] : found->second.used) {
      if (shared_.host[stream] >= count) continue;
      Report("free_before_done",
             absl::StrFormat("%d bytes at %p%s are freed while work on stream %p that uses them "
                             "is not known to be done",
                             found->second.size, address, ForNode(found->second),
                             static_cast<void*>(stream)));
      break;
    }
    const uint64_t zone = found->second.zone;
    blocks_.erase(found);
    return zone;
  }

  void HostAllocated(const void* address, uint64_t size) override {
    absl::MutexLock lock(&shared_.mutex);
    if (address != nullptr) host_blocks_[Number(address)] = {size, CurrentMaker(), {}, 0};
  }
  bool HostFreed(const void* address) override {
    absl::MutexLock lock(&shared_.mutex);
    if (host_blocks_.erase(Number(address)) > 0 || address == nullptr) return true;
    Report("double_free", absl::StrFormat("host memory at %p is freed that host_memory_allocate "
                                          "did not give out, or that was freed before",
                                          address));
    return false;
  }

  void DeviceAddress(const char* what, const void* address, uint64_t size) override {
    absl::MutexLock lock(&shared_.mutex);
    const auto* block = Touched(blocks_, Number(address), size);
    if (block == nullptr) {
      Report("device_pointer",
             absl::StrFormat("the %s, %d bytes at %p, is no memory of the device: "
                             "a host pointer, or freed",
                             what, size, address));
    } else if (Number(address) < block->first ||
               Number(address) + size > block->first + block->second.size) {
      Report("device_pointer", absl::StrFormat("the %s, %d bytes at %p, ends beyond the %d bytes "
                                               "that were allocated",
                                               what, size, address, block->second.size));
    }
  }
  void HostAddress(const char* what, const void* address, uint64_t size) override {
    absl::MutexLock lock(&shared_.mutex);
    if (Touched(blocks_, Number(address), size) == nullptr) return;
    Report("host_pointer", absl::StrFormat("the %s, %d bytes at %p, is memory of the device where "
                                           "the host's is due",
                                           what, size, address));
  }

  void StreamMade(SP_Stream stream) override {
    absl::MutexLock lock(&shared_.mutex);
    copies_.AddStream(stream);
    all_streams_.insert(stream);
    shared_.streams.try_emplace(stream);
    shared_.marks.try_emplace(stream, std::make_shared<StreamMarks>(plugin_));
    Stream& info = streams_.try_emplace(stream, Stream{CurrentMaker()}).first->second;
    // Null handles pass: a plug-in without queues may give null for each stream.
    if (++info.count > 1 && stream != nullptr)
      Report("stream", "two streams have one handle: they have to be told apart");
  }
  void StreamGone(SP_Stream stream) override {
    absl::MutexLock lock(&shared_.mutex);
    const auto found = streams_.find(stream);
    if (found == streams_.end()) {
      Report("double_free", "a stream is destroyed that is not there");
      return;
    }
    copies_.DropStream(stream);
    // Destroying a stream ends its work, and a later stream may have the same address.
    if (--found->second.count == 0) streams_.erase(found);
    if (shared_.streams.erase(stream) > 0) Forget(stream);
  }
  void EventMade(SP_Event event) override {
    absl::MutexLock lock(&shared_.mutex);
    all_events_.insert(event);
    if (!events_.try_emplace(event, Event{CurrentMaker()}).second)
      Report("event", "two events have one handle: they have to be told apart");
  }
  void EventGone(SP_Event event) override {
    absl::MutexLock lock(&shared_.mutex);
    if (events_.erase(event) == 0) Report("double_free", "an event is destroyed that is not there");
  }

  void Queued(SP_Stream stream, const std::vector<const void*>& used) override {
    absl::MutexLock lock(&shared_.mutex);
    StreamClock& clock = shared_.streams[stream];
    // The host queues this knowing the end of other work, which is therefore done before this.
    Join(shared_.host, clock);
    const uint64_t count = ++clock[stream];
    for (const void* address : used) {
      if (auto* block = Touched(blocks_, Number(address), 1)) block->second.used[stream] = count;
    }
  }
  void Mark(const SP_Device* handle, SP_Stream stream) override {
    std::shared_ptr<StreamMarks> marks;
    uint64_t count;
    {
      absl::MutexLock lock(&shared_.mutex);
      marks = shared_.marks[stream];
      count = shared_.streams[stream][stream];
    }
    // Without the lock: the plug-in may run the callback at once, or wait for another thread.
    if (marks != nullptr) marks->Queue(real(), handle, stream, count);
  }
  void Depends(SP_Stream waiting, SP_Stream other) override {
    absl::MutexLock lock(&shared_.mutex);
    const StreamClock known = shared_.streams[other];
    Join(known, shared_.streams[waiting]);
  }
  void Recorded(SP_Stream stream, SP_Event event) override {
    absl::MutexLock lock(&shared_.mutex);
    const auto found = events_.find(event);
    if (found == events_.end()) return Report("event", kNoEvent);
    Event& recorded = found->second;
    recorded.recorded = true;
    StreamClock& clock = shared_.streams[stream];
    ++clock[stream];  // the record is a piece of work too: the work before it may be done first
    recorded.at = clock;
  }
  void MustBeRecorded(SP_Event event) override {
    absl::MutexLock lock(&shared_.mutex);
    const auto found = events_.find(event);
    if (found == events_.end()) {
      Report("event", kNoEvent);
    } else if (!found->second.recorded) {
      Report("event_not_recorded", "an event is waited for that was never recorded");
    }
  }
  // The stream knows from here on what the event knew when it was recorded.
  void WaitsFor(SP_Stream stream, SP_Event event) override {
    absl::MutexLock lock(&shared_.mutex);
    if (const auto found = events_.find(event); found != events_.end())
      Join(found->second.at, shared_.streams[stream]);
  }

  StreamClock At(SP_Event event) override {
    absl::MutexLock lock(&shared_.mutex);
    const auto found = events_.find(event);
    return found == events_.end() ? StreamClock() : found->second.at;
  }
  StreamClock At(SP_Stream stream) override {
    absl::MutexLock lock(&shared_.mutex);
    return shared_.streams[stream];
  }
  StreamClock AtAll() override {
    absl::MutexLock lock(&shared_.mutex);
    StreamClock at;
    for (const auto& [stream, info] : streams_) Join(shared_.streams[stream], at);
    return at;
  }
  bool IsDone(const StreamClock& at) override {
    absl::MutexLock lock(&shared_.mutex);
    for (const auto& [stream, count] : at) {
      if (shared_.host[stream] < count) return false;
    }
    return !at.empty();
  }
  void LearnDone(const StreamClock& at, const char* how) override {
    std::vector<std::pair<std::shared_ptr<StreamMarks>, uint64_t>> marks;
    {
      absl::MutexLock lock(&shared_.mutex);
      for (const auto& [stream, count] : at) {
        const auto found = shared_.marks.find(stream);
        if (found != shared_.marks.end() && shared_.host[stream] < count)
          marks.emplace_back(found->second, count);
      }
      Join(at, shared_.host);
    }
    // Without the lock, since Reached waits for callbacks.
    for (const auto& [stream, count] : marks) {
      if (stream->Reached(count)) continue;
      Report("done_too_early",
             absl::StrCat(how,
                          " while work queued before it has not run: a host callback behind "
                          "that work was not called"));
    }
  }

  void CheckOutput(int output, const void* data, bool on_host) {
    absl::MutexLock lock(&shared_.mutex);
    const bool of_device = Touched(blocks_, Number(data), 1) != nullptr;
    if (of_device && on_host) {
      Report("host_pointer", absl::StrCat("output ", output,
                                          " is memory of the device; the kernel "
                                          "is registered with it in host memory"));
    } else if (!of_device && !on_host) {
      Report("device_pointer",
             absl::StrCat("output ", output,
                          " is no memory of the device; TF_AllocateOutput makes "
                          "some, TF_KernelBuilder_HostMemory says that it is the host's"));
    }
  }

  // Removes the guards, whose checks copy, and then the copies' own stream. Not under the lock of
  // all devices, since both call the plug-in.
  void EndCopies() {
    std::set<SP_Stream> streams;
    std::set<SP_Event> events;
    {
      absl::MutexLock lock(&shared_.mutex);
      streams = all_streams_;
      events = all_events_;
    }
    TensorGuards::Get().ForgetAll(&copies_);
    copies_.End(streams, events);
  }

  // A handle that is still there was never given back: a leak of the call that made it.
  void ReportLeft() {
    AbiWatch* const watch = AbiWatch::Active();
    if (watch == nullptr) return;
    absl::MutexLock lock(&shared_.mutex);
    const auto left = [&](const Maker& maker, std::string what) {
      watch->Report({plugin_, maker.callback, maker.node, "leak",
                     absl::StrCat("at the device's end ", what, " that it made is left")});
    };
    for (const auto& [address, block] : blocks_)
      left(block.maker, absl::StrCat("a block of ", block.size, " bytes of device memory"));
    for (const auto& [address, block] : host_blocks_)
      left(block.maker, absl::StrCat("a block of ", block.size, " bytes of host memory"));
    for (const auto& [stream, info] : streams_) left(info.maker, "a stream");
    for (const auto& [event, info] : events_) left(info.maker, "an event");
    for (const auto& [stream, info] : streams_) Forget(stream);
  }

 private:
  static std::string ForNode(const Block& block) {
    const std::string& node = block.maker.node;
    return node.empty() ? "" : absl::StrCat(" for node '", node, "'");
  }
  // Takes the stream out of all clocks, since its address may come back.
  void Forget(SP_Stream stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_.mutex) {
    shared_.host.erase(stream);
    if (const auto marks = shared_.marks.find(stream); marks != shared_.marks.end()) {
      shared_.old_marks.push_back(std::move(marks->second));
      shared_.marks.erase(marks);
    }
    for (auto& [address, block] : blocks_) block.used.erase(stream);
    for (auto& [other, clock] : shared_.streams) clock.erase(stream);
    for (auto& [event, state] : events_) state.at.erase(stream);
    shared_.streams.erase(stream);
  }

  Shared& shared_ = TheShared();
  const Device* const device_;
  const std::string plugin_;
  // Guarded by shared_.mutex.
  Blocks blocks_, host_blocks_;
  std::map<SP_Stream, Stream> streams_;
  std::map<SP_Event, Event> events_;
  std::set<SP_Stream> all_streams_;  // every handle that the plug-in ever gave out
  std::set<SP_Event> all_events_;
  CopiedMemory copies_;
};

// The watches of all devices, by the handle that the functions of the table get. Never destroyed: a
// plug-in's thread may call its table while the process ends.
struct Watches {
  absl::Mutex mutex;
  absl::flat_hash_map<const SP_Device*, std::unique_ptr<Watch>> by_handle ABSL_GUARDED_BY(mutex);
};
Watches& TheWatches() {
  static auto* const watches = new Watches;
  return *watches;
}

// Linear: there are few devices.
Watch* Find(const Device* device) {
  Watches& watches = TheWatches();
  absl::MutexLock lock(&watches.mutex);
  for (const auto& [handle, watch] : watches.by_handle) {
    if (watch->device() == device) return watch.get();
  }
  return nullptr;
}

}  // namespace

void WatchDevice(const Device* device, const SP_Device* handle, const std::string& plugin,
                 const SP_StreamExecutor& real) {
  Watches& watches = TheWatches();
  absl::MutexLock lock(&watches.mutex);
  watches.by_handle[handle] = std::make_unique<Watch>(device, handle, plugin, real);
}

void EndDeviceWatch(const SP_Device* handle) {
  Watches& watches = TheWatches();
  std::unique_ptr<Watch> watch;
  {
    absl::MutexLock lock(&watches.mutex);
    const auto found = watches.by_handle.find(handle);
    if (found == watches.by_handle.end()) return;
    watch = std::move(found->second);
    watches.by_handle.erase(found);
  }
  watch->EndCopies();
  watch->ReportLeft();
}

void WatchOutput(const Device* device, int output, const void* data, bool on_host) {
  if (Watch* watch = Find(device)) watch->CheckOutput(output, data, on_host);
}

FarMemory* FarMemoryOf(const Device* device) {
  Watch* const watch = Find(device);
  return watch == nullptr ? nullptr : &watch->copies();
}

void WatchQueued(const Device* device, StreamHandle stream, const std::vector<const void*>& used) {
  if (Watch* watch = Find(device)) watch->Queued(static_cast<SP_Stream>(stream), used);
}

DeviceWatch& DeviceWatch::Of(const SP_Device* handle) {
  Watches& watches = TheWatches();
  absl::MutexLock lock(&watches.mutex);
  const auto found = watches.by_handle.find(handle);
  // CallPlugin catches the exception where the host called the plug-in.
  if (found == watches.by_handle.end())
    throw std::invalid_argument("an SP_Device that create_device did not fill is used");
  return *found->second;
}

}  // namespace tenon
