// Sends ops to custom devices. Private to executor/api/eager/.
#pragma once

#include "absl/status/statusor.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// Executes the op, on the calling thread, on the custom device that it asks for, or, if it asks for
// none, on that of its inputs if this device wants the op (CustomDevice::Wants). Else returns
// false: the op belongs on a physical device. `results` are then left alone, and copies take the
// place of the op's inputs on custom devices. INVALID_ARGUMENT for inputs on two custom devices.
// Other errors are the device's.
absl::StatusOr<bool> ExecuteOnCustomDevice(Context& context, TFE_Op& op, TFE_TensorHandle** results,
                                           int* num_results);

}  // namespace tenon::eager
