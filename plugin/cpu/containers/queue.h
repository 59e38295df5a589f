// Queues of tuples of tensors, which runs of a session pass to each other.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/resource.h"

namespace tenon::cpu {

using Tuple = std::vector<Tensor>;

// The tuples that wait in a queue. A subclass decides the order in which tuples come out. Not
// thread-safe: the queue calls these functions under its lock.
class WaitingTuples {
 public:
  virtual ~WaitingTuples() = default;
  virtual void Put(Tuple tuple) = 0;
  virtual Tuple Take() = 0;  // only if size() > 0
  virtual int64_t size() const = 0;
  // The copy shares the tensors' buffers.
  virtual std::unique_ptr<WaitingTuples> Copy() const = 0;
};
// Tuples come out in the order in which they were put.
std::unique_ptr<WaitingTuples> FirstInFirstOut();
// Tuples come out by ascending first component, an int64 scalar. Tuples of equal first components
// come out in the order in which they were put.
std::unique_ptr<WaitingTuples> SmallestFirst();
// Tuples come out at random, in the order that the generator gives: TensorFlow's order for the
// generator of TensorFlow's seeds. A copy draws the same numbers as the original.
std::unique_ptr<WaitingTuples> Shuffled(const Philox& generator);

// Thread-safe. The tuples of one Put go in together, the tuples of one Take come out together. A
// call that cannot go on waits for other runs (AwaitOtherRun), whose errors are among its own.
class Queue : public Resource {
 public:
  static constexpr std::string_view kKind = "queue";
  std::string_view kind() const override { return kKind; }

  struct Options {
    TypeVector types;                  // one per component
    std::vector<PartialShape> shapes;  // one per component; empty: any shape
    int64_t capacity = -1;             // negative: any number of tuples
    int64_t min_left = 0;              // Take leaves so many tuples while the queue is open
    // For the kernels that stack the tuples of one Take: the kernel pads tensors with 0 to the
    // largest of them. The queue itself changes no tensor.
    bool pads = false;
  };
  Queue(std::string_view name, Options options, std::unique_ptr<WaitingTuples> tuples)
      : Resource(name), options_(std::move(options)), tuples_(std::move(tuples)) {}

  const Options& options() const { return options_; }

  // Waits until the queue has room for all tuples, then adds them in their order. An error adds
  // none. The caller has checked types and shapes. CANCELLED if the queue is closed before the
  // call, or closed with `cancel_pending` during the wait. DEADLINE_EXCEEDED when the run's
  // patience (RunLimits) is used up, also for more tuples than the capacity.
  absl::Status Put(std::vector<Tuple> tuples);
  // Waits until `count` tuples may be taken, then removes and returns them, in the order in which
  // they come out. The wait also ends when the queue is closed and no Put waits, or when the run's
  // patience is used up. If there are too few tuples then:
  //   closed, and `up_to`: returns all that are there, if there is one at least
  //   closed, otherwise: OUT_OF_RANGE
  //   open: DEADLINE_EXCEEDED
  // An error takes no tuple. count >= 0; for 0 there is no wait.
  absl::StatusOr<std::vector<Tuple>> Take(int64_t count, bool up_to);

  int64_t size();
  bool closed();
  // Closes the queue for good: later calls of Put fail. Calls of Put that wait go on waiting, or
  // fail if `cancel_pending`. Tuples in the queue can still be taken. May be called again, to
  // cancel.
  void Close(bool cancel_pending);
  // Returns a queue of the same name and options, closed if this one is, that holds the same
  // tuples. The tensors' buffers are shared. The copy is no resource of the session.
  ObjectRef<Queue> Copy();

 private:
  bool Has(int64_t count) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return count == 0 || tuples_->size() - (closed_ ? 0 : options_.min_left) >= count;
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
