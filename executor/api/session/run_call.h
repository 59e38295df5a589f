// The arguments of TF_SessionRun and the like, as the caller of the C API gives them.
// Private to executor/api/session/.
#pragma once

#include "executor/api/session/session_core.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// Arrays and their lengths. `inputs`, `outputs` and `targets` are arrays of TF_Outputs and
// operations, or of names; ReadRunCall only looks whether they are null.
struct RunCall {
  const void* inputs;
  TF_Tensor* const* input_values;
  int num_inputs;
  const void* outputs;
  TF_Tensor** output_values;
  int num_outputs;
  const void* targets;
  int num_targets;
};

// Sets all of call.output_values to null, and arguments->inputs and arguments->outputs to the
// arrays of the call. Returns false and sets `status` to INVALID_ARGUMENT if a length is negative
// or above kMaxElements (graph/c_api/counts.h), an array with a length above 0 is null, or an input
// tensor is null or deleted.
bool ReadRunCall(const RunCall& call, RunArguments* arguments, TF_Status* status);

}  // namespace tenon::api
