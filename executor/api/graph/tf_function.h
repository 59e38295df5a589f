// The struct behind TF_Function.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/c_api/handles.h"
#include "tensorflow/c/c_api.h"

// A function that belongs to no graph.
struct TF_Function {
  using Pool = tenon::Handles<TF_Function>;
  std::string name;
  std::string wire;       // FunctionDef bytes
  bool is_sound = false;  // the verifier has nothing to find; false: nobody knows
};

namespace tenon::api {

// Copies `wire`, FunctionDef bytes. INVALID_ARGUMENT, with TensorFlow's message, if they do not
// parse.
absl::StatusOr<TF_Function> FunctionOf(std::string_view wire);

}  // namespace tenon::api
