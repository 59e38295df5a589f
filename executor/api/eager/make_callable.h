// Decides where and how an op is executed. Private to executor/api/eager/.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// The device of the first resource among the inputs; null if there is none, and for the host.
Device* DeviceOfResources(const TFE_Op& op);

// Errors, most with TensorFlow's words: those of CallNode::Make; INVALID_ARGUMENT for a device that
// does not exist; NOT_FOUND if no device has a kernel for the op.
absl::StatusOr<std::shared_ptr<Callable>> MakeCallable(Context& context, const TFE_Op& op);

}  // namespace tenon::eager
