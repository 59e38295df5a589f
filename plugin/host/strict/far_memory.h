// A device's memory, read and written through the plug-in's own table, for --abi-check=strict.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "graph/c_api/tensor_guards.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// Copies on a stream of its own, which the watch does not record: otherwise the copies would teach
// the watch that work has ended of which the host itself knows nothing. Thread-safe.
class CopiedMemory final : public FarMemory {
 public:
  // `device` must live until End. `real` is the plug-in's own table. The wait for the end of a
  // copy that is queued is given up after `patience`: a device may hang. The plug-in's call that
  // queues the copy has no limit.
  CopiedMemory(std::string plugin, const SP_Device* device, const SP_StreamExecutor& real,
               absl::Duration patience = absl::Minutes(1))
      : plugin_(std::move(plugin)), device_(device), real_(real), patience_(patience) {}
  // Copy `bytes` bytes, one copy at a time: a caller waits for the copies of others. Both return
  // false if the plug-in fails or takes too long, and as long as a copy that was given up is under
  // way. The plug-in never sees the caller's memory, only a buffer that is leaked if the copy may
  // not have ended. Do not call them after End.
  bool Read(const void* from, void* to, size_t bytes) override;
  bool Write(void* to, const void* from, size_t bytes) override;

  // Each copy waits for the work that is queued on these streams when the copy begins. DropStream
  // ignores a stream that is not there. Copies that began before DropStream may still use the
  // stream.
  void AddStream(SP_Stream stream);
  void DropStream(SP_Stream stream);
  // Destroys stream and event; call it before the device is destroyed. Leaves a handle alone that
  // is in `streams` or `events`: the plug-in has, wrongly, given the same handle to the host.
  void End(const std::set<SP_Stream>& streams, const std::set<SP_Event>& events);

 private:
  // Host memory that the plug-in copies from or to.
  using Staging = std::unique_ptr<char[]>;

  template <typename Copy>
  bool Transfer(const char* callback, Staging& staging, Copy copy);
  void Prepare(TF_Status* status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int State() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Await() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string plugin_;
  const SP_Device* const device_;
  const SP_StreamExecutor real_;
  const absl::Duration patience_;
  absl::Mutex streams_mutex_;
  std::vector<SP_Stream> streams_ ABSL_GUARDED_BY(streams_mutex_);
  absl::Mutex mutex_;  // held for the length of a transfer
  bool has_stream_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_event_ ABSL_GUARDED_BY(mutex_) = false;
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;  // a copy that may be under way
  SP_Stream own_ ABSL_GUARDED_BY(mutex_) = nullptr;
  SP_Event event_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace tenon
