// Executes ops. Private to executor/api/eager/.
#pragma once

#include "absl/status/status.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// TFE_Execute for an op for which CheckOp gave OK: `results` has room for *num_results handles.
absl::Status Execute(TFE_Op& op, TFE_TensorHandle** results, int* num_results);

}  // namespace tenon::eager
