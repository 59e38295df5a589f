// The struct behind TF_Function.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/c_api/handles.h"
#include "tensorflow/c/c_api.h"

// A FunctionDef that belongs to no graph.
struct TF_Function {
  using Pool = tenon::Handles<TF_Function>;
  std::string name;
  std::string wire;  // the FunctionDef
};

namespace tenon::api {

// INVALID_ARGUMENT, with TensorFlow's message, for bytes that are no FunctionDef.
absl::StatusOr<TF_Function> FunctionOf(std::string_view wire);

}  // namespace tenon::api
