// The C++ function that calls an op.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "executor/op_headers/op_texts.h"
#include "graph/op_defs/op_def.h"

namespace tenon::op_headers {

// Returns the source of the function, and before it of the structs of the op's optional attributes
// and of its outputs, if it has several. UNIMPLEMENTED if the default of an attribute has no C++
// text (DefaultText).
absl::StatusOr<std::string> WrapperText(const OpDef& op, const OpText& text);

}  // namespace tenon::op_headers
