// Variables: a tensor that runs of a session share. Those of version 1, which nodes pass on by
// reference, are the same objects.
#pragma once

#include <atomic>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

class Device;  // plugin/device/device.h

// Under what a session's resources keep the variable of a node.
struct VariableName {
  std::string container, name;
};
// Handles that share no name are all of one variable. Variables of version 1, which are passed on
// by reference, go by the node's name instead, and have names of their own.
VariableName NameOfVariable(bool by_reference, std::string_view container,
                            std::string_view shared_name, std::string_view node_name);

// Thread-safe: each call is atomic. Readers share the buffer, so that what they read stays as it
// is; writers copy it if anybody shares it.
// The value lies in the memory of the device that wrote it last. A reader on another device gets a
// copy, which is kept until the value changes; a writer takes the value over. A device of null is
// the host.
class Variable : public Resource {
 public:
  static constexpr std::string_view kKind = "variable";
  // `dtype`: of what it may hold; kInvalid: of anything.
  explicit Variable(std::string_view name, DataType dtype = DataType::kInvalid)
      : Resource(name), dtype_(dtype) {}
  std::string_view kind() const override { return kKind; }
  DataType dtype() const { return dtype_; }

  // The value in that memory; uninitialized before the first assignment.
  absl::StatusOr<Tensor> Get(Device* device = nullptr) const;
  // The value wherever it lies, for its type and shape.
  Tensor Peek() const;
  // The error of who needs a value where none was assigned.
  absl::Status NoValue(absl::StatusCode code) const;
  // Runs `update` on the value in that memory, which it may replace by another one there, while
  // nobody else gets at it.
  using UpdateFn = absl::FunctionRef<absl::Status(Tensor& value)>;
  absl::Status Update(UpdateFn update, Device* device = nullptr);
  // A value in that memory takes the place of the old one, if `check` has nothing against it.
  using CheckFn = absl::FunctionRef<absl::Status(const Tensor& old)>;
  absl::Status Assign(Tensor value, Device* device, CheckFn check);

  // For updates of several variables at once: lock in the order of their addresses.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex_);
  void Unlock() ABSL_UNLOCK_FUNCTION(mutex_);
  // The value in host memory.
  absl::StatusOr<Tensor*> LockedValue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Keeps others out (alone), or all that would change the value, for more than one call; any
  // thread may let go. DEADLINE_EXCEEDED after a minute: its holder waits for another one.
  absl::Status Hold(bool alone);
  void LetGo();
  // As Peek, Update and Assign, for a holder.
  Tensor PeekHeld() const;
  absl::Status UpdateHeld(UpdateFn update, Device* device);
  void AssignHeld(Tensor value, Device* device);

  // Parts of it are changed where they lie: what is assigned is copied from then on.
  bool changes_in_place() const { return changes_in_place_; }
  void set_changes_in_place() { changes_in_place_ = true; }

 private:
  static constexpr int32_t kAlone = -1;
  bool Free() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return holders_ == 0; }
  bool Readable() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return holders_ != kAlone; }
  absl::Status MoveTo(Device* device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Set(Tensor& value, Device* device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DataType dtype_;
  mutable absl::Mutex mutex_;
  Tensor value_ ABSL_GUARDED_BY(mutex_);
  Device* device_ ABSL_GUARDED_BY(mutex_) = nullptr;  // in whose memory the value lies
  mutable Tensor copy_ ABSL_GUARDED_BY(mutex_);       // of the value, for the last reader elsewhere
  mutable Device* copy_device_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;  // how often it may have changed
  int32_t holders_ ABSL_GUARDED_BY(mutex_) = 0;  // or kAlone
  std::atomic<bool> changes_in_place_{false};
};

}  // namespace tenon
