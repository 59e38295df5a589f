// The arguments of functions that run, as the caller gives them. Private to executor/api/session/.
#pragma once

#include "executor/api/session/session_core.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// Arrays and their lengths. Of `inputs`, `outputs` and `targets` only the addresses count here:
// they are TF_Outputs and operations, or names.
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

// Sets `output_values` to null, and the spans of `arguments`. False, with INVALID_ARGUMENT in
// `status`, for an array that is missing and for a tensor that is missing or deleted.
bool ReadRunCall(const RunCall& call, RunArguments* arguments, TF_Status* status);

}  // namespace tenon::api
