// Keeps deleted objects of the C interface, to be used again. Their memory is never given back: a
// pointer to a deleted object leads to an object that says so. Private to executor/api/eager/.
#pragma once

#include <cstddef>

#include "absl/synchronization/mutex.h"

namespace tenon::eager {

// A pool for each T, which has a member `T* next_idle` for the pool's use. Objects keep what they
// own while they are idle. Each thread has a stock of its own; all threads share what is beyond it.
// Thread-safe.
template <typename T>
class ObjectPool {
 public:
  // An idle object, or a new one. The caller makes it ready for use.
  static T* Take() {
    Stock& stock = stock_;
    if (stock.first == nullptr) [[unlikely]]
      return Refill(stock);
    T* const object = stock.first;
    stock.first = object->next_idle;
    --stock.size;
    return object;
  }
  // Takes an object back, on any thread.
  static void Give(T* object) {
    Stock& stock = stock_;
    object->next_idle = stock.first;
    stock.first = object;
    if (++stock.size >= kMost) [[unlikely]]
      stock.Spill();
  }

 private:
  static constexpr size_t kMost = 256;

  struct Stock {
    ~Stock() { Spill(); }
    // Gives all objects to the part that is shared.
    void Spill() {
      absl::MutexLock lock(&mutex_);
      while (first != nullptr) {
        T* const object = first;
        first = object->next_idle;
        object->next_idle = shared_;
        shared_ = object;
      }
      size = 0;
    }
    T* first = nullptr;
    size_t size = 0;
  };

  static T* Refill(Stock& stock) {
    absl::MutexLock lock(&mutex_);
    if (shared_ == nullptr) return new T;
    T* const taken = shared_;
    shared_ = taken->next_idle;
    while (shared_ != nullptr && stock.size < kMost / 2) {
      T* const object = shared_;
      shared_ = object->next_idle;
      object->next_idle = stock.first;
      stock.first = object;
      ++stock.size;
    }
    return taken;
  }

  inline static absl::Mutex mutex_{absl::kConstInit};
  inline static T* shared_ = nullptr;
  [[gnu::tls_model("initial-exec")]] inline static thread_local Stock stock_;
};

}  // namespace tenon::eager
