// What executes an op with given attributes, types of inputs and devices.
// Private to executor/api/eager/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/api/eager/tensor_handle.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/tensor.h"
#include "plugin/device/device.h"

namespace tenon::eager {

class CancellationManager;  // executor/api/eager/cancellation.h

using Inputs = absl::Span<TFE_TensorHandle* const>;

// What one execution brings beside its inputs.
struct CallContext {
  // Of the thread that has called TFE_Execute.
  TFE_ContextDevicePlacementPolicy policy = TFE_DEVICE_PLACEMENT_SILENT;
  const CancellationManager* cancellation = nullptr;  // null: none
};

// Thread-safe: several threads may run one callable at once.
class Callable {
 public:
  virtual ~Callable() = default;
  // Runs the op on inputs whose values are there, in any memory, and whose number and types are
  // those that the callable was made for. Sets `outputs`, as many as output_types() has. The
  // callable may take the value of an input that has no other user (TFE_TensorHandle::HasOneUser).
  virtual absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) = 0;

  const TypeVector& output_types() const { return output_types_; }
  // The device of the op, and the device with the memory of output i; null is the host.
  Device* device() const { return device_; }
  virtual Device* output_memory(size_t) const { return nullptr; }

 protected:
  Callable(TypeVector output_types, Device* device)
      : output_types_(std::move(output_types)), device_(device) {}

 private:
  const TypeVector output_types_;
  Device* const device_;
};

}  // namespace tenon::eager
