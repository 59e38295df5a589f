// Sends ops to custom devices. Private to executor/api/eager/execute/.
#pragma once

#include "absl/status/statusor.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// Executes the op on a custom device, on the calling thread, and returns true; or returns false:
// the op belongs on a physical device. Then `results` is unchanged, and each input of the op on a
// custom device has been replaced by a copy on the physical one. Without an input on a custom
// device, the op goes to the custom device that it asks for. Otherwise the first of these decides:
// 1. CustomDevice::Wants of the inputs' device. True means this device, even if the op asks for
//    another one. False means the device that the op asks for. An error, also one of its callback,
//    is dropped and decides nothing.
// 2. The op's first resource input: this device if the input is on it, else the device that the op
//    asks for.
// 3. The device that the op asks for; the inputs' device if it asks for none.
// `results` and `num_results` are as for CustomDevice::Execute. INVALID_ARGUMENT if inputs are on
// two custom devices. Other errors are those of CustomDevice::Execute and of copies.
absl::StatusOr<bool> ExecuteOnCustomDevice(Context& context, TFE_Op& op, TFE_TensorHandle** results,
                                           int* num_results);

}  // namespace tenon::eager
