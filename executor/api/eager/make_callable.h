// Decides where and how an op is executed. Private to executor/api/eager/.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// The device of the first resource among the inputs; null if there is none, and for the host.
Device* DeviceOfResources(const TFE_Op& op);

// Makes a callable for the attributes of the op and for the types and devices of its inputs; reads
// no value of an input. The context must outlive the callable. The callable is placed on the device
// that the op asks for; without one, on the device of the op's resources; without any, on the
// device with the best kernel. With soft placement, a device that the op asks for and that cannot
// serve is replaced by another one. Errors, most with TensorFlow's messages: those of CallNode,
// HostCall::Make, PluginCall::Make and PlanCall::Make; INVALID_ARGUMENT if the device that the op
// asks for does not exist or has no kernel for the op, and for a placeholder; NOT_FOUND if no
// device has a kernel.
absl::StatusOr<std::shared_ptr<Callable>> MakeCallable(Context& context, const TFE_Op& op);

}  // namespace tenon::eager
