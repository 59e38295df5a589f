// Memory of objects that callers of the C API hold by address.
#pragma once

#include <deque>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tenon::api {

// The memory of a deleted object stays readable, so that a call with its address can be refused,
// until the address is that of a new object. T must have a default constructor; an object is empty
// in between. Thread-safe.
template <typename T>
class HandleStock {
 public:
  // An empty object.
  T* New() {
    absl::MutexLock lock(&mutex_);
    if (free_.empty()) return &objects_.emplace_back();
    T* const object = free_.back();
    free_.pop_back();
    return object;
  }
  // The caller has emptied the object.
  void Free(T* object) {
    absl::MutexLock lock(&mutex_);
    free_.push_back(object);
  }

 private:
  absl::Mutex mutex_;
  std::deque<T> objects_ ABSL_GUARDED_BY(mutex_);
  std::vector<T*> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::api
