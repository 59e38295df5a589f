// Decides where and how an op is executed. Private to executor/api/eager/execute/.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// The device of the first resource among the inputs; null if there is none, and for the host.
Device* DeviceOfResources(const TFE_Op& op);

// Makes a callable for the attributes of the op and for the types and devices of its inputs; reads
// no value of an input. The context must outlive the callable. The callable is placed on the first
// of these devices that has a kernel for the op:
// 1. of the devices that fit the one that the op asks for, the one with the best kernel as in 3;
// 2. the device of the op's resources (DeviceOfResources), unless that is the host;
// 3. the device with the best kernel: the highest kernel priority, then the highest device
//    priority, then the first of Context::devices.
// Without soft placement, an op that asks for a device is placed by 1 alone. A function, an op that
// calls functions, or an op that only plans know becomes a PlanCall or SwitchCall instead. Errors,
// most with TensorFlow's messages:
// * those of CallNode, HostCall::Make, PluginCall::Make and PlanCall::Make, and those of
//   KernelRegistry::Find but NOT_FOUND;
// * INVALID_ARGUMENT: without soft placement, the device that the op asks for does not exist or has
//   no kernel for the op; the op is a placeholder; no device has a kernel, and a kernel of the op
//   constrains an attribute that the node lacks; an attribute `config_proto` does not parse; a
//   function has another number of inputs;
// * NOT_FOUND: no device has a kernel, or an attribute `executor_type` names no executor of
//   TensorFlow.
absl::StatusOr<std::shared_ptr<Callable>> MakeCallable(Context& context, const TFE_Op& op);

}  // namespace tenon::eager
