#include "plugin/host/strict/far_memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

constexpr auto kPause = std::chrono::microseconds(20);

SP_DeviceMemoryBase MemoryAt(const void* data, size_t bytes) {
  return {SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, nullptr, const_cast<void*>(data), bytes, 0};
}

}  // namespace

void CopiedMemory::AddStream(SP_Stream stream) {
  absl::MutexLock lock(&streams_mutex_);
  streams_.push_back(stream);
}

void CopiedMemory::DropStream(SP_Stream stream) {
  absl::MutexLock lock(&streams_mutex_);
  const auto found = std::find(streams_.begin(), streams_.end(), stream);
  if (found != streams_.end()) streams_.erase(found);
}

// At the first copy, not when the watch begins: a device without tensors then needs no further
// stream.
void CopiedMemory::Prepare(TF_Status* status) {
  if (!has_stream_) {
    real_.create_stream(device_, &own_, status);
    has_stream_ = TF_GetCode(status) == TF_OK;
  }
  if (!has_stream_ || has_event_) return;
  real_.create_event(device_, &event_, status);
  has_event_ = TF_GetCode(status) == TF_OK;
}

// As an int, since a plug-in may answer anything.
int CopiedMemory::State() {
  const SE_EventStatus answer = real_.get_event_status(device_, event_);
  int state;
  std::memcpy(&state, &answer, sizeof(state));
  return state;
}

// Polls, since block_host_for_event has no time limit.
bool CopiedMemory::Await() {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(patience_);
  while (true) {
    const int state = State();
    if (state != SE_EVENT_PENDING) return state == SE_EVENT_COMPLETE;
    given_up_ = std::chrono::steady_clock::now() >= deadline;
    if (given_up_) return false;
    std::this_thread::sleep_for(kPause);
  }
}

// Calls the plug-in's own functions with the watch out of the way. An error is not reported: it
// leaves the bytes unknown, and the program's own calls to the device meet the same error. Memory
// of a copy that is not known to have ended is never freed: the device may still use it.
template <typename Copy>
bool CopiedMemory::Transfer(const char* callback, Staging& staging, Copy copy) {
  // A copy of the list: StreamMade and StreamGone must not wait for a transfer.
  std::vector<SP_Stream> streams;
  {
    absl::MutexLock lock(&streams_mutex_);
    streams = streams_;
  }
  absl::MutexLock lock(&mutex_);
  CStatus status;
  bool begun = false, done = false;
  const auto ok = [&] { return TF_GetCode(status.get()) == TF_OK; };
  const auto transfer = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (given_up_ && State() == SE_EVENT_PENDING) return;
    given_up_ = false;
    Prepare(status.get());
    for (const SP_Stream stream : streams) {
      if (ok()) real_.create_stream_dependency(device_, own_, stream, status.get());
    }
    begun = ok();
    if (begun) copy(status.get());
    if (ok()) real_.record_event(device_, own_, event_, status.get());
    done = ok() && Await();
  };
  const bool called = CallPlugin(plugin_.c_str(), callback, "", transfer).ok();
  if (begun && !done) (void)staging.release();
  return called && done;
}

bool CopiedMemory::Read(const void* from, void* to, size_t bytes) {
  if (bytes == 0) return true;
  Staging staging = std::make_unique<char[]>(bytes);
  const auto copy = [&](TF_Status* status) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const SP_DeviceMemoryBase source = MemoryAt(from, bytes);
    real_.memcpy_dtoh(device_, own_, staging.get(), &source, bytes, status);
  };
  if (!Transfer("memcpy_dtoh", staging, copy)) return false;
  std::memcpy(to, staging.get(), bytes);
  return true;
}

bool CopiedMemory::Write(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  Staging staging = std::make_unique<char[]>(bytes);
  std::memcpy(staging.get(), from, bytes);
  return Transfer("memcpy_htod", staging, [&](TF_Status* status) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    SP_DeviceMemoryBase target = MemoryAt(to, bytes);
    real_.memcpy_htod(device_, own_, &target, staging.get(), bytes, status);
  });
}

void CopiedMemory::End(const std::set<SP_Stream>& streams, const std::set<SP_Event>& events) {
  absl::MutexLock lock(&mutex_);
  const bool has_event = std::exchange(has_event_, false);
  const bool has_stream = std::exchange(has_stream_, false);
  const SP_Event event = event_;
  const SP_Stream own = own_;
  const auto call = [this](const char* callback, auto&& fn) {
    CallPlugin(plugin_.c_str(), callback, "", fn).IgnoreError();
  };
  if (has_event && !events.contains(event))
    call("destroy_event", [&] { real_.destroy_event(device_, event); });
  if (has_stream && !streams.contains(own))
    call("destroy_stream", [&] { real_.destroy_stream(device_, own); });
}

}  // namespace tenon
