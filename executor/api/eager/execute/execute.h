// Executes ops. Private to executor/api/eager/.
#pragma once

#include "absl/status/status.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// TFE_Execute for an op for which CheckOp returned OK. `results` has room for *num_results handles.
// Sets `results` to new handles, which the caller owns, and *num_results to their number; after an
// error the caller owns no handle. If the calling thread's executor is asynchronous, the op is
// queued: the values of the results come later (TFE_TensorHandle::Await), and so do errors of the
// kernel. Drops the inputs of the op once its kernel is called or the op is handed to the executor,
// also if that fails. Keeps the inputs after any earlier error, and if a custom device executes the
// op. Errors are those of MakeCallable, of Callable::Run, of ExecuteOnCustomDevice, of the ops that
// make the inputs, and of the executor; INVALID_ARGUMENT if there is no room for all results.
absl::Status Execute(TFE_Op& op, TFE_TensorHandle** results, int* num_results);

}  // namespace tenon::eager
