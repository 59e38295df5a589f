// Queues of tuples of tensors, which runs of a session pass to each other.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon::cpu {

using Tuple = std::vector<Tensor>;

// What waits in a queue. The order in which tuples come out is the kind of queue.
class WaitingTuples {
 public:
  virtual ~WaitingTuples() = default;
  virtual void Put(Tuple tuple) = 0;
  virtual Tuple Take() = 0;  // there is one
  virtual int64_t size() const = 0;
  virtual std::unique_ptr<WaitingTuples> Copy() const = 0;
};
std::unique_ptr<WaitingTuples> FirstInFirstOut();
// By the first component, an int64 scalar; those with the same one as they came.
std::unique_ptr<WaitingTuples> SmallestFirst();
// At random, as TensorFlow's generator of these seeds has it.
std::unique_ptr<WaitingTuples> Shuffled(uint64_t seed, uint64_t seed2);

// Thread-safe: a tuple, or all tuples of one call, go in and come out together.
class Queue : public Resource {
 public:
  static constexpr std::string_view kKind = "queue";
  std::string_view kind() const override { return kKind; }

  struct Options {
    TypeVector types;
    std::vector<PartialShape> shapes;  // none: any
    int64_t capacity = -1;             // negative: any number
    int64_t min_left = 0;              // tuples that stay as long as the queue is open
    bool pads = false;                 // many are taken together at the size of the largest
  };
  Queue(std::string_view name, Options options, std::unique_ptr<WaitingTuples> tuples)
      : Resource(name), options_(std::move(options)), tuples_(std::move(tuples)) {}

  const Options& options() const { return options_; }

  absl::Status Put(std::vector<Tuple> tuples);
  // `count` tuples; of a closed queue what is left, if that is enough for the caller.
  absl::StatusOr<std::vector<Tuple>> Take(int64_t count, bool up_to);

  int64_t size();
  bool closed();
  // Nothing more can be put; who waits to put something still may, unless `cancel_pending`.
  void Close(bool cancel_pending);
  // A queue of the same name in which the same tuples wait.
  ObjectRef<Queue> Copy();

 private:
  bool Has(int64_t count) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return tuples_->size() - (closed_ ? 0 : options_.min_left) >= count;
  }
  bool HasRoom(int64_t count) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return options_.capacity < 0 || tuples_->size() + count <= options_.capacity;
  }

  const Options options_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t waiting_to_put_ ABSL_GUARDED_BY(mutex_) = 0;
  const std::unique_ptr<WaitingTuples> tuples_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace tenon::cpu
