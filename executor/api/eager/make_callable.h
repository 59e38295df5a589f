// Decides where and how an op is executed. Private to executor/api/eager/.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// The device of the first resource among the inputs; null if there is none, and for the host.
Device* DeviceOfResources(const TFE_Op& op);

// Makes a callable for the op as it is: with its attributes, and the types and devices of its
// inputs, of which it reads no values. The context must outlive it. It runs on the device that the
// op asks for, else with the op's resources, else on the device with the best kernel. Soft
// placement permits another device than the one that the op asks for. Errors, most with
// TensorFlow's words: those of CallNode; INVALID_ARGUMENT for a device that does not exist or has
// no kernel for the op, and for a placeholder; NOT_FOUND if no device has a kernel; those of
// HostCall, PluginCall and PlanCall.
absl::StatusOr<std::shared_ptr<Callable>> MakeCallable(Context& context, const TFE_Op& op);

}  // namespace tenon::eager
