// Tensors in the memory of devices outside of plans. Who copies blocks until the copy is made.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon {

// How long a device may take for a copy that nobody set a limit for.
inline constexpr double kCopyTimeoutSeconds = 60;

// A tensor of the same type and shape in the device's memory, whose contents are undefined. Null is
// the host.
absl::StatusOr<Tensor> AllocateLike(const Tensor& like, Device* device);

// A copy of a host tensor in the device's memory.
absl::StatusOr<Tensor> CopyOnDevice(const Tensor& value, Device& device, double timeout_s);

// A copy in the memory of `to` of a tensor in that of `from`, behind all that computes on `from`.
// Null is the host. UNIMPLEMENTED for elements that only the host can hold.
absl::StatusOr<Tensor> CopyAcross(const Tensor& value, Device* from, Device* to);

}  // namespace tenon
