// A device that does queued work as late, and in as odd an order, as its streams allow. Memory that
// is given back is given out again at once. So a wait that is missing, or memory that is given back
// too early, makes wrong numbers. For one thread.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/device/compute_streams.h"
#include "tests/executor/bare_device_util.h"

namespace tenon::testing {

class LazyDevice : public BareDevice, public ComputeStreams {
 public:
  class Stream {
   public:
    explicit Stream(std::string name) : name_(std::move(name)) {}
    const std::string& name() const { return name_; }
    void Queue(std::function<void()> work) { Add({.work = std::move(work)}); }
    // Queues a wait for the first `until` pieces of work of `other`.
    void QueueWait(Stream* other, int64_t until) { Add({.other = other, .until = until}); }
    int64_t queued() const { return queued_; }
    bool HasDone(int64_t count) const { return done_ >= count; }
    bool CanGoOn() const {
      return !tasks_.empty() && (tasks_.front().other == nullptr ||
                                 tasks_.front().other->HasDone(tasks_.front().until));
    }
    void GoOn() {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      if (task.work) task.work();
      ++done_;
    }

   private:
    struct Task {
      std::function<void()> work = nullptr;
      Stream* other = nullptr;
      int64_t until = 0;
    };
    void Add(Task task) {
      tasks_.push_back(std::move(task));
      ++queued_;
    }
    std::string name_;
    std::deque<Task> tasks_;
    int64_t queued_ = 0, done_ = 0;
  };

  explicit LazyDevice(int ordinal = 0) : ordinal_(ordinal) {
    for (const char* name : {"compute", "h2d", "d2h", "d2d"}) AddStream(name);
  }
  ~LazyDevice() override {
    EXPECT_EQ(live_, 0) << "buffers are left";
    EXPECT_EQ(events_, 0) << "events are left";
    for (const auto& [data, pool] : blocks_) std::free(data);
    std::erase_if(All(), [this](const Stream* stream) {
      return std::ranges::any_of(streams_, [&](const auto& mine) { return mine.get() == stream; });
    });
  }

  std::string_view type() const override { return "LAZY"; }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return "lazy"; }
  bool copies_between() const override { return copies_between_; }
  absl::StatusOr<BufferRef> Allocate(size_t bytes) override { return AllocateOn(0, bytes); }
  absl::StatusOr<BufferRef> AllocateOn(int number, size_t bytes) override {
    const auto key = std::pair(number, bytes);
    std::vector<void*>& pool = pools_[key];
    if (pool.empty()) {
      pool.push_back(std::malloc(bytes + 1));
      blocks_[pool.back()] = key;
      for (size_t i = 0; i + sizeof(float) <= bytes; i += sizeof(float))
        static_cast<float*>(pool.back())[i / sizeof(float)] =
            std::numeric_limits<float>::quiet_NaN();
    }
    void* const data = pool.back();
    pool.pop_back();
    ++live_;
    return BufferRef::Adopt(Buffer::OfDevice(data, bytes, Release, this));
  }
  int MakeComputeStreams(int count) override {
    while (made_ < std::min(count, most_streams_)) {
      AddStream(absl::StrCat("compute ", made_));
      ++made_;
    }
    return std::min(count, made_);
  }
  StreamHandle compute_stream() override { return streams_[0].get(); }
  StreamHandle compute_stream_at(int number) override {
    return streams_[number == 0 ? 0 : 3 + number].get();
  }
  StreamHandle host_to_device_stream() override { return streams_[1].get(); }
  StreamHandle device_to_host_stream() override { return streams_[2].get(); }
  StreamHandle device_to_device_stream() override { return streams_[3].get(); }
  absl::Status StreamWaitsForStream(StreamHandle stream, StreamHandle other) override {
    log_.push_back(absl::StrCat(Of(stream)->name(), " < ", Of(other)->name()));
    Of(stream)->QueueWait(Of(other), Of(other)->queued());
    return log_.back() == fails_at_ ? absl::InternalError("no wait") : absl::OkStatus();
  }
  absl::Status CopyHostToDevice(StreamHandle s, const Tensor& from, const Tensor& to) override {
    return Copy(s, from, to);
  }
  absl::Status CopyDeviceToHost(StreamHandle s, const Tensor& from, const Tensor& to) override {
    return Copy(s, from, to);
  }
  absl::Status CopyDeviceToDevice(StreamHandle s, const Tensor& from, const Tensor& to) override {
    ++copies_within_;
    return Copy(s, from, to);
  }
  absl::StatusOr<EventHandle> AcquireEvent() override {
    ++events_;
    return new Event;
  }
  void ReleaseEvent(EventHandle event) override {
    --events_;
    delete static_cast<Event*>(event);
  }
  absl::Status RecordEvent(StreamHandle stream, EventHandle event) override {
    *static_cast<Event*>(event) = {Of(stream), Of(stream)->queued()};
    return absl::OkStatus();
  }
  absl::Status StreamWaitsForEvent(StreamHandle stream, EventHandle event) override {
    const Event& e = *static_cast<Event*>(event);
    log_.push_back(absl::StrCat(Of(stream)->name(), " < event of ", e.stream->name()));
    Of(stream)->QueueWait(e.stream, e.until);
    return log_.back() == fails_at_ ? absl::InternalError("no wait") : absl::OkStatus();
  }
  absl::Status BlockUntilComplete(EventHandle event, double) override {
    const Event& e = *static_cast<Event*>(event);
    return WorkUntil([&] { return e.stream->HasDone(e.until); });
  }
  absl::Status SynchronizeAllActivity() override {
    return WorkUntil([&] {
      for (const auto& stream : streams_) {
        if (!stream->HasDone(stream->queued())) return false;
      }
      return true;
    });
  }

  // The waits between streams since the last call.
  std::vector<std::string> TakeLog() { return std::exchange(log_, {}); }
  void set_most_streams(int count) { most_streams_ = count; }
  void set_copies_between(bool copies) { copies_between_ = copies; }
  void set_seed(uint32_t seed) { random_.seed(seed); }
  // The wait that fails, as the log has it; empty: none.
  void set_fails_at(std::string wait) { fails_at_ = std::move(wait); }
  int copies_within() const { return copies_within_; }
  int made_streams() const { return made_; }

 private:
  struct Event {
    Stream* stream = nullptr;
    int64_t until = 0;
  };
  static std::vector<Stream*>& All() {
    static auto* const all = new std::vector<Stream*>;
    return *all;
  }
  void AddStream(std::string name) {
    streams_.push_back(std::make_unique<Stream>(std::move(name)));
    All().push_back(streams_.back().get());
  }
  static Stream* Of(StreamHandle handle) { return static_cast<Stream*>(handle); }
  static void Release(void* data, size_t, void* arg) {
    auto* const device = static_cast<LazyDevice*>(arg);
    device->pools_[device->blocks_[data]].push_back(data);
    --device->live_;
  }
  absl::Status Copy(StreamHandle stream, const Tensor& from, const Tensor& to) {
    Of(stream)->Queue([from = from.data(), to = to.data(), bytes = from.bytes()] {
      std::memcpy(to, from, bytes);
    });
    return absl::OkStatus();
  }
  // Of the streams of all devices that can go on, one at random does.
  template <typename Enough>
  absl::Status WorkUntil(Enough enough) {
    while (!enough()) {
      std::vector<Stream*> ready;
      for (Stream* stream : All()) {
        if (stream->CanGoOn()) ready.push_back(stream);
      }
      if (ready.empty()) return absl::InternalError("streams wait for each other");
      ready[random_() % ready.size()]->GoOn();
    }
    return absl::OkStatus();
  }

  const int ordinal_;
  std::vector<std::unique_ptr<Stream>> streams_;
  int made_ = 1, most_streams_ = kMostComputeStreams;
  bool copies_between_ = true;
  std::map<std::pair<int, size_t>, std::vector<void*>> pools_;  // by stream and size
  std::map<void*, std::pair<int, size_t>> blocks_;
  std::minstd_rand random_;
  std::vector<std::string> log_;
  std::string fails_at_;
  int live_ = 0, events_ = 0, copies_within_ = 0;
};

}  // namespace tenon::testing
