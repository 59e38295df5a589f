// Variables: tensors that the runs of a session share. Variables of TensorFlow's version 1, which
// nodes pass on by reference, are objects of the same class.
#pragma once

#include <atomic>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

class Device;  // plugin/device/device.h

// The key under which a session's resources keep the variable of a node.
struct VariableName {
  std::string container, name;
};
// Returns the key. All handles with an empty shared name in a container are of one variable.
// Variables of version 1 (`by_reference`) go by the node's name where they have no shared name;
// their keys never equal those of other variables.
VariableName NameOfVariable(bool by_reference, std::string_view container,
                            std::string_view shared_name, std::string_view node_name);

// Thread-safe: each call is atomic. Readers share the value's buffer. A writer (the caller of
// Update, UpdateHeld or LockedValue) must copy a buffer that anybody shares before it writes to the
// buffer: so a value that was read does not change, unless changes_in_place().
//
// The value lies in the memory of the device that wrote it last. A reader on another device gets a
// copy. The variable keeps the last such copy until a writer or Assign is called. A writer on
// another device moves the value into its own memory. A null device is the host, as is the CPU's
// Device.
//
// Calls wait for holders (Hold): Get and Peek while one is alone, Update, Assign and Lock while
// there is any. Such a wait has no limit, so a holder must use the functions for holders.
class Variable : public Resource {
 public:
  static constexpr std::string_view kKind = "variable";
  // `dtype` is the type of the values that the variable may hold; kInvalid: any type. Callers check
  // it; the variable does not. `by_reference` is true for variables of version 1.
  explicit Variable(std::string_view name, DataType dtype = DataType::kInvalid,
                    bool by_reference = false)
      : Resource(name), dtype_(dtype), by_reference_(by_reference) {}
  std::string_view kind() const override { return kKind; }
  bool starts_empty() const override { return true; }
  DataType dtype() const { return dtype_; }

  // Returns the value in the memory of `device`; an uninitialized tensor before the first
  // assignment. Errors are those of the copy between devices.
  absl::StatusOr<Tensor> Get(Device* device = nullptr) const;
  // Returns the value in whatever memory it lies, for its type and shape.
  Tensor Peek() const;
  // The error, with this code, for a caller that needs a value where none was assigned.
  absl::Status NoValue(absl::StatusCode code) const;
  // Moves the value into the memory of `device` and runs `update` on it, under the variable's lock:
  // `update` must not call the variable. The value may be uninitialized. `update` may put another
  // value of the same memory in its place. Returns the error of the move, and then leaves the value
  // alone, or of `update`; what `update` has changed by then stays.
  using UpdateFn = absl::FunctionRef<absl::Status(Tensor& value)>;
  absl::Status Update(UpdateFn update, Device* device = nullptr);
  // Replaces the value by `value`, which lies in the memory of `device`, unless `check` of the old
  // value returns an error, which is then returned. Calls `check` under the variable's lock; the
  // old value may be uninitialized, and lie in the memory of any device.
  using CheckFn = absl::FunctionRef<absl::Status(const Tensor& old)>;
  absl::Status Assign(Tensor value, Device* device, CheckFn check);

  // For updates of several variables at once. Callers lock in the order of the variables'
  // addresses, so that no two callers wait for each other.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex_);
  void Unlock() ABSL_UNLOCK_FUNCTION(mutex_);
  // Moves the value into host memory, and returns the variable's own tensor. The pointer is valid
  // until Unlock. Errors are those of the copy between devices.
  absl::StatusOr<Tensor*> LockedValue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Takes a lock for more than one call: with `alone` all other users wait, without it all that
  // would change the value. Each Hold that succeeds needs one LetGo, on any thread.
  // DEADLINE_EXCEEDED after a minute, which breaks a circle of holders that wait for each other.
  absl::Status Hold(bool alone);
  void LetGo();
  // Peek, Update and Assign for a caller that holds the variable. They do not wait for holders.
  // Several holders that are not alone may call them from several threads: each call is atomic.
  // AssignHeld checks nothing.
  Tensor PeekHeld() const;
  absl::Status UpdateHeld(UpdateFn update, Device* device);
  void AssignHeld(Tensor value, Device* device);

  // Whether some kernel changes parts of the value where they lie. From then on a plug-in's kernel
  // that assigns a value must copy it, so that the variable has a buffer of its own; Assign and
  // AssignHeld do not copy.
  bool changes_in_place() const { return changes_in_place_; }
  void set_changes_in_place() { changes_in_place_ = true; }

 private:
  static constexpr int32_t kAlone = -1;
  bool Free() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return holders_ == 0; }
  bool Readable() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return holders_ != kAlone; }
  // Waits for a condition that is not met. A lock that asks for one takes a slow way even if it is.
  void AwaitUnless(bool met, bool (Variable::*condition)() const) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MoveTo(Device* device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Set(Tensor& value, Device* device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DataType dtype_;
  const bool by_reference_;
  mutable absl::Mutex mutex_;
  Tensor value_ ABSL_GUARDED_BY(mutex_);
  Device* device_ ABSL_GUARDED_BY(mutex_) = nullptr;  // has the memory of the value
  mutable Tensor copy_ ABSL_GUARDED_BY(mutex_);       // of the value, in copy_device_'s memory
  mutable Device* copy_device_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;  // how often the value may have changed
  int32_t holders_ ABSL_GUARDED_BY(mutex_) = 0;  // the number of holders, or kAlone
  std::atomic<bool> changes_in_place_{false};
};

}  // namespace tenon
