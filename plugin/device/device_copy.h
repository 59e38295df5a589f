// Allocates and copies tensors in device memory, outside of plans. Every copy blocks the calling
// thread until the copy is complete.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon {

// The time limit of a copy for which the caller sets none.
inline constexpr double kCopyTimeoutSeconds = 60;

// A tensor of like's type and shape in the memory of `device`, with undefined contents. A null
// `device` is the host.
absl::StatusOr<Tensor> AllocateLike(const Tensor& like, Device* device);

// Copies a host tensor into the memory of `device`. DEADLINE_EXCEEDED after `timeout_s` seconds;
// the memory of both tensors then leaks, since the device may still use it. So does CopyAcross.
absl::StatusOr<Tensor> CopyOnDevice(const Tensor& value, Device& device, double timeout_s);

// Copies a tensor from the memory of `from` into the memory of `to`, after all work that is queued
// on the compute stream of `from`. Null is the host; do not pass the CPU's Device. UNIMPLEMENTED
// for elements that only the host can hold. If both are the same device, returns `value` itself.
// Between two devices the copy goes by way of the host. Each copy may take kCopyTimeoutSeconds.
absl::StatusOr<Tensor> CopyAcross(const Tensor& value, Device* from, Device* to);

}  // namespace tenon
