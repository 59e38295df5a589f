// Executes one op for fixed attributes, types of inputs and devices.
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

// The settings of one execution.
struct CallContext {
  // The policy of the thread that called TFE_Execute; SILENT in a context that has the host alone.
  TFE_ContextDevicePlacementPolicy policy = TFE_DEVICE_PLACEMENT_SILENT;
  // Null: nothing cancels the execution, and it waits for other runs no longer than the default of
  // RunLimits::patience. Not owned; must outlive the execution.
  const CancellationManager* cancellation = nullptr;
};

// Thread-safe: several threads may run one callable at once.
class Callable {
 public:
  virtual ~Callable() = default;
  // Runs the op on the calling thread. Each input must have its value (TFE_TensorHandle::Await), in
  // the memory of any device. The number and the types of the inputs must be those that the
  // callable was made for. `outputs` has one entry for each of output_types(), and Run sets all of
  // them; after an error, perhaps some. Run may move the value out of an input for which
  // TFE_TensorHandle::HasOneUser is true.
  virtual absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) = 0;

  const TypeVector& output_types() const { return output_types_; }
  // The device of the op, and the device whose memory holds output i. Null: the host.
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
