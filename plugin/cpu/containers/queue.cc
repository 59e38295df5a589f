#include "plugin/cpu/containers/queue.h"

#include <deque>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/run_limits.h"

namespace tenon::cpu {
namespace {

class InOrder : public WaitingTuples {
 public:
  void Put(Tuple tuple) override { tuples_.push_back(std::move(tuple)); }
  Tuple Take() override {
    Tuple first = std::move(tuples_.front());
    tuples_.pop_front();
    return first;
  }
  int64_t size() const override { return static_cast<int64_t>(tuples_.size()); }
  std::unique_ptr<WaitingTuples> Copy() const override { return std::make_unique<InOrder>(*this); }

 private:
  std::deque<Tuple> tuples_;
};

class ByPriority : public WaitingTuples {
 public:
  void Put(Tuple tuple) override {
    const int64_t priority = tuple[0].IntAt(0);
    tuples_.emplace(priority, std::move(tuple));
  }
  Tuple Take() override { return std::move(tuples_.extract(tuples_.begin()).mapped()); }
  int64_t size() const override { return static_cast<int64_t>(tuples_.size()); }
  std::unique_ptr<WaitingTuples> Copy() const override {
    return std::make_unique<ByPriority>(*this);
  }

 private:
  std::multimap<int64_t, Tuple> tuples_;
};

class AtRandom : public WaitingTuples {
 public:
  explicit AtRandom(const Philox& philox) : words_(philox) {}
  void Put(Tuple tuple) override { tuples_.push_back(std::move(tuple)); }
  Tuple Take() override {
    // Not NextBelow: TensorFlow takes the remainder of one word, and so draws the same tuples.
    std::swap(tuples_[words_.Next32() % tuples_.size()], tuples_.back());
    Tuple last = std::move(tuples_.back());
    tuples_.pop_back();
    return last;
  }
  int64_t size() const override { return static_cast<int64_t>(tuples_.size()); }
  std::unique_ptr<WaitingTuples> Copy() const override { return std::make_unique<AtRandom>(*this); }

 private:
  PhiloxStream words_;
  std::vector<Tuple> tuples_;
};

}  // namespace

std::unique_ptr<WaitingTuples> FirstInFirstOut() { return std::make_unique<InOrder>(); }
std::unique_ptr<WaitingTuples> SmallestFirst() { return std::make_unique<ByPriority>(); }
std::unique_ptr<WaitingTuples> Shuffled(const Philox& generator) {
  return std::make_unique<AtRandom>(generator);
}

absl::Status Queue::Put(std::vector<Tuple> tuples) {
  const auto count = static_cast<int64_t>(tuples.size());
  absl::MutexLock lock(&mutex_);
  if (closed_) return absl::CancelledError(absl::StrCat("queue '", name(), "' is closed"));
  const auto may_go_on = [&] { return cancelled_ || HasRoom(count); };
  ++waiting_to_put_;
  const absl::StatusOr<bool> waited = AwaitOtherRun(mutex_, absl::Condition(&may_go_on), "Enqueue");
  --waiting_to_put_;
  TENON_RETURN_IF_ERROR(waited.status());
  if (cancelled_) return absl::CancelledError(absl::StrCat("queue '", name(), "' is closed"));
  if (!HasRoom(count)) {
    return absl::DeadlineExceededError(absl::StrCat(
        "queue '", name(), "' has had no room for ", count,
        " more elements for as long as the run may wait; its capacity is ", options_.capacity));
  }
  for (Tuple& tuple : tuples) tuples_->Put(std::move(tuple));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tuple>> Queue::Take(int64_t count, bool up_to) {
  absl::MutexLock lock(&mutex_);
  const auto may_go_on = [&] { return Has(count) || (closed_ && waiting_to_put_ == 0); };
  // All tuples come out at once. TensorFlow takes tuples as they come, so that two takers of many
  // can starve each other.
  TENON_RETURN_IF_ERROR(AwaitOtherRun(mutex_, absl::Condition(&may_go_on), "Dequeue").status());
  if (!Has(count) && closed_ && up_to && tuples_->size() > 0) count = tuples_->size();
  if (!Has(count)) {
    const std::string has = absl::StrCat(
        "queue '", name(), "' has ", tuples_->size(), " elements where ", count, " are wanted",
        options_.min_left > 0 && !closed_ ? " on top of " : "",
        options_.min_left > 0 && !closed_ ? absl::StrCat(options_.min_left) : "", ", and ");
    if (closed_) return absl::OutOfRangeError(absl::StrCat(has, "is closed"));
    return absl::DeadlineExceededError(
        absl::StrCat(has, "too few came in the time that the run may wait"));
  }
  std::vector<Tuple> taken;
  for (int64_t i = 0; i < count; ++i) taken.push_back(tuples_->Take());
  return taken;
}

int64_t Queue::size() {
  absl::MutexLock lock(&mutex_);
  return tuples_->size();
}

bool Queue::closed() {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

void Queue::Close(bool cancel_pending) {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  cancelled_ |= cancel_pending;
}

ObjectRef<Queue> Queue::Copy() {
  absl::MutexLock lock(&mutex_);
  auto copy = ObjectRef<Queue>::Make(name(), options_, tuples_->Copy());
  // Nobody else knows the copy: this lock is for the thread-safety analysis and cannot block.
  absl::MutexLock lock_copy(&copy->mutex_);
  copy->closed_ = closed_;
  copy->cancelled_ = cancelled_;
  return copy;
}

}  // namespace tenon::cpu
