// Ops of our own: what the optimizer recognizes and TensorFlow has no op for. Passes write them for
// target Tenon only.
#pragma once

#include "absl/types/span.h"
#include "graph/op_defs/op_row.h"

namespace tenon::ops {

absl::Span<const OpSpec> Tenon();

}  // namespace tenon::ops
