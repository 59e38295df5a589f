// A device's memory, read and written through the plug-in's own table, for --abi-check=strict.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "graph/c_api/tensor_guards.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// Copies on a stream of its own, which the watch does not record: otherwise the copies would teach
// the watch that work has ended of which the host itself knows nothing. Thread-safe.
class CopiedMemory final : public FarMemory {
 public:
  CopiedMemory(std::string plugin, const SP_Device* device, const SP_StreamExecutor& real)
      : plugin_(std::move(plugin)), device_(device), real_(real) {}
  // Both return false if the plug-in fails or takes longer than a minute. After a minute the copy
  // may still be under way: the plug-in may use the host's memory later.
  bool Read(const void* from, void* to, size_t bytes) override;
  bool Write(void* to, const void* from, size_t bytes) override;

  // Each copy waits for the work that is queued on these streams.
  void AddStream(SP_Stream stream);
  void DropStream(SP_Stream stream);
  // Destroys stream and event; call it before the device is destroyed. Leaves a handle alone that
  // is in `streams` or `events`: the plug-in has, wrongly, given the same handle to the host.
  void End(const std::set<SP_Stream>& streams, const std::set<SP_Event>& events);

 private:
  template <typename Copy>
  bool Transfer(const char* callback, Copy copy);
  void Prepare(TF_Status* status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Await() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string plugin_;
  const SP_Device* const device_;
  const SP_StreamExecutor real_;
  absl::Mutex streams_mutex_;
  std::vector<SP_Stream> streams_ ABSL_GUARDED_BY(streams_mutex_);
  absl::Mutex mutex_;  // held for the length of a transfer
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  SP_Stream own_ ABSL_GUARDED_BY(mutex_) = nullptr;
  SP_Event event_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace tenon
