#include "apu_stream.h"

#include <algorithm>
#include <utility>

#include "apu_clock.h"

namespace apu {
namespace {

// All streams that exist. The list is freed when it is empty, so that an unloaded library leaves
// nothing behind. It is no static object: at exit that would be destroyed before the last threads
// that use it.
std::mutex streams_mutex;
std::vector<Stream*>* streams = nullptr;

void Add(Stream* stream) {
  std::lock_guard lock(streams_mutex);
  if (streams == nullptr) streams = new std::vector<Stream*>;
  streams->push_back(stream);
}

void Remove(Stream* stream) {
  std::lock_guard lock(streams_mutex);
  streams->erase(std::find(streams->begin(), streams->end(), stream));
  if (streams->empty()) delete std::exchange(streams, nullptr);
}

// A library must not leave threads behind in code that is about to be unmapped.
struct StopAtUnload {
  ~StopAtUnload() { Stream::StopAll(); }
} stop_at_unload;

}  // namespace

void Marker::Signal() {
  std::lock_guard lock(mutex_);
  reached_ = true;
  changed_.notify_all();
}

void Marker::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reached_; });
}

bool Marker::reached() {
  std::lock_guard lock(mutex_);
  return reached_;
}

Stream::Stream(DeviceMemory& memory) : memory_(memory) {
  worker_ = std::thread(&Stream::Run, this);
  Add(this);
}

Stream::~Stream() {
  Remove(this);
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (worker_.joinable()) worker_.join();
}

void Stream::Enqueue(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    const VirtualClock* const clock = VirtualClock::Get();
    queue_.push_back({std::move(task), clock == nullptr ? 0 : clock->host()});
  }
  wake_.notify_one();
}

std::shared_ptr<Marker> Stream::Mark() {
  auto marker = std::make_shared<Marker>();
  // The task signals when it is destroyed, not when it runs: a task that is dropped must not leave
  // anybody waiting.
  std::shared_ptr<void> signal(nullptr, [marker](void*) { marker->Signal(); });
  Enqueue([marker, signal = std::move(signal)] { marker->SetTime(VirtualClock::stream()); });
  return marker;
}

void Stream::WaitFor(std::shared_ptr<Marker> marker) {
  Enqueue([marker = std::move(marker)] {
    marker->Wait();
    VirtualClock::NotBefore(marker->time());
  });
}

void Stream::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front().task);
    VirtualClock::NotBefore(queue_.front().at);
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // destroyed without the lock: its destructor may signal a marker
    lock.lock();
  }
}

void Stream::Drop() {
  std::deque<Queued> dropped;
  std::lock_guard lock(mutex_);
  stopping_ = true;
  dropped.swap(queue_);
  wake_.notify_one();
}

std::vector<std::shared_ptr<Marker>> Stream::MarkAll() {
  std::vector<std::shared_ptr<Marker>> markers;
  std::lock_guard lock(streams_mutex);
  if (streams == nullptr) return markers;
  for (Stream* stream : *streams) markers.push_back(stream->Mark());
  return markers;
}

void Stream::StopAll() {
  std::lock_guard lock(streams_mutex);
  if (streams == nullptr) return;
  // All queues are dropped before a thread is joined: a thread may wait for a marker of another
  // stream.
  for (Stream* stream : *streams) stream->Drop();
  for (Stream* stream : *streams) {
    if (stream->worker_.joinable()) stream->worker_.join();
  }
}

void Event::Record(Stream& stream) {
  std::shared_ptr<Marker> marker = stream.Mark();
  std::lock_guard lock(mutex_);
  marker_ = std::move(marker);
}

std::shared_ptr<Marker> Event::marker() {
  std::lock_guard lock(mutex_);
  return marker_;
}

}  // namespace apu
