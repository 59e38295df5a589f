// Allocates and copies tensors in device memory, outside of plans. Every copy blocks the calling
// thread until the copy is complete.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon {

// The time limit of a copy for which the caller sets none.
inline constexpr double kCopyTimeoutSeconds = 60;

// A tensor of like's type and shape in the memory of `device`, with undefined contents. A null
// `device` is the host. In the memory of a device the elements must be memcpyable (IsMemcpyable),
// which is not checked. Errors are those of Tensor::Allocate or Device::Allocate.
absl::StatusOr<Tensor> AllocateLike(const Tensor& like, Device* device);

// A host tensor of like's type and shape, into which `device` will copy: in the device's own host
// memory if it has some for so large a tensor, else as Tensor::Allocate, whose errors it returns.
absl::StatusOr<Tensor> AllocateForCopyFrom(Device& device, const Tensor& like);

// Copies a host tensor into new memory of `device`, after all work that is queued on the compute
// stream of `device`. The elements must be memcpyable (IsMemcpyable). Waits at most `timeout_s`
// seconds for the queued copy, then returns DEADLINE_EXCEEDED. If the wait fails, for this or
// another reason, or the device's own copy call returns DEADLINE_EXCEEDED, the memory of both
// tensors leaks, since the device may still use it. Other errors are those of the device's calls.
absl::StatusOr<Tensor> CopyOnDevice(const Tensor& value, Device& device, double timeout_s);

// Copies a tensor from the memory of `from` into new memory of `to`. Null is the host; do not pass
// the CPU's Device. If both are the same device, returns `value` itself, whatever its elements.
// UNIMPLEMENTED if `to` is a device and only the host can hold the elements. Each copy follows all
// work that is queued on the compute stream of its device. Between two devices there are two
// copies, by way of the host. Each copy may take kCopyTimeoutSeconds, and fails and leaks as
// CopyOnDevice says.
absl::StatusOr<Tensor> CopyAcross(const Tensor& value, Device* from, Device* to);

}  // namespace tenon
