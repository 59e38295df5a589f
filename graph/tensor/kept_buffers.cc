#include "graph/tensor/kept_buffers.h"

#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace tenon {
namespace {

struct KeptBuffers {
  absl::Mutex mutex;
  std::vector<BufferRef> buffers;
};

}  // namespace

void KeepForEver(BufferRef buffer) {
  if (!buffer) return;
  static auto& kept = *new KeptBuffers;
  const absl::MutexLock lock(&kept.mutex);
  kept.buffers.push_back(std::move(buffer));
}

}  // namespace tenon
