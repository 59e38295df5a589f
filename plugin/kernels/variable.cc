#include "plugin/kernels/variable.h"

#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "plugin/device/device_copy.h"

namespace tenon {
namespace {

// How long Hold waits. Holders that wait for each other in a circle get an error then.
constexpr absl::Duration kPatience = absl::Seconds(60);

// The host has two names here, null and its Device; null is the one that is compared.
Device* MemoryOf(Device* device) {
  return device == nullptr || device->is_host() ? nullptr : device;
}

}  // namespace

VariableName NameOfVariable(bool by_reference, std::string_view container,
                            std::string_view shared_name, std::string_view node_name) {
  // The prefix keeps the two sorts apart: it has a space, which TensorFlow allows in no container's
  // name.
  if (!by_reference) return {std::string(container), std::string(shared_name)};
  return {absl::StrCat("by reference/", container),
          std::string(shared_name.empty() ? node_name : shared_name)};
}

absl::StatusOr<Tensor> Variable::Get(Device* device) const {
  device = MemoryOf(device);
  Tensor value;
  Device* from;
  int64_t changes;
  {
    absl::MutexLock lock(&mutex_);
    AwaitUnless(Readable(), &Variable::Readable);
    if (device == device_ || !value_.initialized()) return value_;
    if (device == copy_device_ && copy_.initialized()) return copy_;
    value = value_;
    from = device_;
    changes = changes_;
  }
  // Copied without the lock, since a copy between devices takes long. A writer meanwhile leaves a
  // shared buffer alone, so the copy is of the value of before; it is kept only if that is current.
  TENON_ASSIGN_OR_RETURN(Tensor copy, CopyAcross(value, from, device));
  absl::MutexLock lock(&mutex_);
  if (changes == changes_) {
    copy_ = copy;
    copy_device_ = device;
  }
  return copy;
}

Tensor Variable::Peek() const {
  absl::MutexLock lock(&mutex_);
  AwaitUnless(Readable(), &Variable::Readable);
  return value_;
}

absl::Status Variable::NoValue(absl::StatusCode code) const {
  absl::Status status(code,
                      absl::StrCat("variable '", name(), "' has no value yet; assign one first"));
  if (code != absl::StatusCode::kFailedPrecondition) return status;
  if (by_reference_) {
    const std::string uninitialized =
        absl::StrCat("Attempting to use uninitialized value ", name());
    return NoteAnswer(std::move(status), code, uninitialized);
  }
  std::string info(status.message());
  if (container() != nullptr) {
    const std::string& place = container()->name;
    info = absl::StrCat("container=", place, ", status error message=");
    if (container()->used.load(std::memory_order_relaxed)) {
      absl::StrAppend(&info, "Resource ", place, "/", name(),
                      "/N10tensorflow3VarE does not exist.");
    } else {
      absl::StrAppend(&info, "Container ", place,
                      " does not exist. (Could not find resource: ", place, "/", name(), ")");
    }
  }
  const std::string words = absl::StrCat(
      "Could not find variable ", name(),
      ". This could mean that the variable has been deleted. In TF1, it can also mean the variable "
      "is uninitialized. Debug info: ",
      info);
  return NoteAnswer(std::move(status), code, words);
}

absl::Status Variable::Update(UpdateFn update, Device* device) {
  absl::MutexLock lock(&mutex_);
  AwaitUnless(Free(), &Variable::Free);
  TENON_RETURN_IF_ERROR(MoveTo(MemoryOf(device)));
  return update(value_);
}

absl::Status Variable::Assign(Tensor value, Device* device, CheckFn check) {
  absl::MutexLock lock(&mutex_);
  AwaitUnless(Free(), &Variable::Free);
  TENON_RETURN_IF_ERROR(check(value_));
  Set(value, device);
  return absl::OkStatus();
}

void Variable::Lock() {
  mutex_.Lock();
  AwaitUnless(Free(), &Variable::Free);
}

void Variable::AwaitUnless(bool met, bool (Variable::*condition)() const) const {
  if (!met) mutex_.Await(absl::Condition(this, condition));
}

void Variable::Unlock() { mutex_.Unlock(); }

absl::StatusOr<Tensor*> Variable::LockedValue() {
  TENON_RETURN_IF_ERROR(MoveTo(nullptr));
  return &value_;
}

absl::Status Variable::Hold(bool alone) {
  const absl::Condition may(this, alone ? &Variable::Free : &Variable::Readable);
  absl::MutexLock lock(&mutex_);
  if (!mutex_.AwaitWithTimeout(may, kPatience)) {
    return absl::DeadlineExceededError(
        absl::StrCat("variable '", name(), "' is locked by another kernel"));
  }
  holders_ = alone ? kAlone : holders_ + 1;
  return absl::OkStatus();
}

void Variable::LetGo() {
  absl::MutexLock lock(&mutex_);
  holders_ = holders_ == kAlone ? 0 : holders_ - 1;
}

Tensor Variable::PeekHeld() const {
  absl::MutexLock lock(&mutex_);
  return value_;
}

absl::Status Variable::UpdateHeld(UpdateFn update, Device* device) {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(MoveTo(MemoryOf(device)));
  return update(value_);
}

void Variable::AssignHeld(Tensor value, Device* device) {
  absl::MutexLock lock(&mutex_);
  Set(value, device);
}

// Swaps, so that the caller destroys the old value without the lock: that may run a plug-in's code.
void Variable::Set(Tensor& value, Device* device) {
  std::swap(value_, value);
  NoteValue();
  device_ = MemoryOf(device);
  copy_.Clear();
  ++changes_;
}

// For a writer: the kept copy is of no use after it.
absl::Status Variable::MoveTo(Device* device) {
  if (value_.initialized() && device != device_) {
    TENON_ASSIGN_OR_RETURN(value_, CopyAcross(value_, device_, device));
  }
  device_ = device;
  copy_.Clear();
  ++changes_;
  return absl::OkStatus();
}

}  // namespace tenon
