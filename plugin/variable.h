// Variables: a tensor that runs of a session share. Those of version 1, which nodes pass on by
// reference, are the same objects.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor.h"
#include "plugin/resource.h"

namespace tenon {

// Thread-safe: each call is atomic. Readers share the buffer, so that what they read stays as it
// is; writers copy it if anybody shares it.
class Variable : public Resource {
 public:
  static constexpr std::string_view kKind = "variable";
  using Resource::Resource;
  std::string_view kind() const override { return kKind; }

  // The value; uninitialized before the first assignment.
  Tensor Get() const {
    absl::MutexLock lock(&mutex_);
    return value_;
  }
  // Runs `update` on the value, which it may replace, while nobody else gets at it.
  absl::Status Update(absl::FunctionRef<absl::Status(Tensor& value)> update) {
    absl::MutexLock lock(&mutex_);
    return update(value_);
  }

  // For updates of several variables at once: lock in the order of their addresses.
  absl::Mutex& mutex() ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  Tensor& value() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return value_; }

 private:
  mutable absl::Mutex mutex_;
  Tensor value_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
