// Built-in kernels that also serve nodes on other devices than the host, as TensorFlow's kernels of
// device type DEFAULT do.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

enum class Elsewhere : uint8_t {
  kNever,
  kOnHost,   // inputs and outputs are in host memory
  kInPlace,  // they are in the device's memory, but for resources: a kernel of whole tensors that
             // hands them on and does not look at their elements
};
Elsewhere ServesElsewhere(std::string_view op);
// Which arguments of the op are in host memory then, as TensorFlow registers its kernel.
absl::Span<const std::string_view> HostArgsElsewhere(std::string_view op);

// What such a kernel runs with.
class RunStateElsewhere : public RunState {
 public:
  virtual Device* device() const = 0;
};
// In whose memory tensors lie for a kernel that is kInPlace. Null: the host's.
Device* DeviceOf(const RunState& state);

}  // namespace tenon
