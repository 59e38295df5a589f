// Records when queued work ran, while a profile is taken.
#pragma once

#include "cl.h"

namespace opencl {

class Stream;

// One piece of queued work. While a profile is taken, pass event() to the call that queues it;
// otherwise event() is NULL, and this does nothing.
class Traced {
 public:
  // `stream` and `name` must outlive the object.
  Traced(Stream& stream, const char* name);
  ~Traced();
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  cl_event* event() const { return active_ ? &event_ : nullptr; }

 private:
  Stream& stream_;
  const char* name_;
  bool active_;
  mutable cl_event event_ = nullptr;
};

}  // namespace opencl
