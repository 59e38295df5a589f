// Executes ops. Private to executor/api/eager/.
#pragma once

#include "absl/status/status.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// TFE_Execute for an op for which CheckOp gave OK: `results` has room for *num_results handles, and
// gets new ones, which are the caller's; *num_results becomes their number. If the calling thread's
// executor is asynchronous, the values come later, and so do errors of the kernel. The op has no
// inputs afterwards, unless it failed before its kernel began. Errors are those of MakeCallable, of
// Callable::Run, of the ops that make its inputs and of the executor; INVALID_ARGUMENT if there is
// no room for all results.
absl::Status Execute(TFE_Op& op, TFE_TensorHandle** results, int* num_results);

}  // namespace tenon::eager
