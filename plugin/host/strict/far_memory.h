// A device's memory, read and written through the plug-in's own table, for --abi-check=strict.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "graph/c_api/tensor_guards.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// Has a stream of its own, of which the watch knows nothing: what is learned here about the end of
// work is nothing that the host may rely on. Thread-safe.
class CopiedMemory final : public FarMemory {
 public:
  CopiedMemory(std::string plugin, const SP_Device* device, const SP_StreamExecutor& real)
      : plugin_(std::move(plugin)), device_(device), real_(real) {}
  bool Read(const void* from, void* to, size_t bytes) override;
  bool Write(void* to, const void* from, size_t bytes) override;

  // Copies are made behind all that is queued on these.
  void AddStream(SP_Stream stream);
  void DropStream(SP_Stream stream);
  // Before the device is destroyed. A plug-in may, wrongly, have given a handle to others too: then
  // it is theirs.
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
  absl::Mutex mutex_;  // of one transfer
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  SP_Stream own_ ABSL_GUARDED_BY(mutex_) = nullptr;
  SP_Event event_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace tenon
