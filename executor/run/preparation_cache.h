// Keeps what a kernel was prepared for, by the shapes and the deciding values of its inputs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"

namespace tenon {

struct CpuKernelSpec;   // plugin/kernels/kernel_spec.h
struct PreparedKernel;  // executor/run/prepared_kernel.h

// Whether the kernel cannot be prepared without the value of this input.
bool NeedsValue(const CpuKernelSpec& spec, size_t input);

// `made` counts the kernel preparations that runs made. `reused` counts how often a run took one
// that another run or an earlier pass of a loop had made. Kernels that are prepared while planning
// count in neither. All plans of an executable share the counts. Thread-safe.
struct LatePreparations {
  std::atomic<int64_t> made{0}, reused{0};
};

// The bytes of shapes and values, in the order in which they are added. Up to kInPlace bytes need
// no allocation.
class PreparationKey {
 public:
  void AddShape(const Shape& shape);
  // The plain elements of `dtype` at `data`, of which the shape says the number.
  void AddElements(DataType dtype, const Shape& shape, const void* data);
  // The elements of a host tensor; objects add nothing.
  void AddValue(const Tensor& value);
  std::string_view bytes() const {
    return size_ > kInPlace ? std::string_view(heap_) : std::string_view(here_, size_);
  }

 private:
  static constexpr size_t kInPlace = 128;  // three shapes of rank 4
  // Makes room for more bytes at the end, and returns where they start.
  char* Grow(size_t bytes);
  void Append(const void* data, size_t bytes);

  size_t size_ = 0;
  char here_[kInPlace];
  std::string heap_;  // all bytes, if there are more than kInPlace
};

// The preparation that one step of one frame used last. The next run of the step mostly needs the
// same one, and then takes it without a lock.
struct LastPreparation {
  std::vector<Shape> shapes;  // of the inputs with late shapes, if no values decide
  PreparationKey key;         // if values decide
  std::shared_ptr<const PreparedKernel> prepared;  // null before the first use
};

// The preparations of one kernel for one list of types and attributes. Keeps those of the
// kMaxPrepared keys that were asked for last; a key whose preparation failed counts among them.
// Those who need the same preparation at once wait until one of them has made it; if it fails, the
// next one tries. A key that kMaxPrepared others have pushed out meanwhile is prepared anew. Nobody
// waits for a preparation that he does not need. Thread-safe.
class PreparationCache {
 public:
  static constexpr size_t kMaxPrepared = 32;
  using Prepared = std::shared_ptr<const PreparedKernel>;
  using MakeFn = absl::FunctionRef<absl::StatusOr<Prepared>()>;

  // The preparation for `key`; `make` makes it if there is none. `make` must not ask for this key:
  // it would wait for itself. Errors are those of `make`.
  absl::StatusOr<Prepared> Get(const PreparationKey& key, MakeFn make, LatePreparations& counts);

 private:
  struct Entry {
    explicit Entry(std::string_view of) : key(of) {}
    const std::string key;
    absl::Mutex making;  // held while it is prepared; locked before PreparationCache::mutex_
    Prepared prepared;   // guarded by PreparationCache::mutex_; null until it is made
  };
  // The entry of a key, a new one if there is none; from now on the one that was used last.
  const std::shared_ptr<Entry>& EntryOf(std::string_view key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Prepared> Make(Entry& entry, MakeFn make, LatePreparations& counts);

  absl::Mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);  // last used last
};

}  // namespace tenon
