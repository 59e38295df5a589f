// Gathers by indices that are known when the program is written. Private to executor/stablehlo/.
#pragma once

#include "executor/stablehlo/op.h"

namespace tenon::stablehlo {

// The elements of x at these places of an axis, in their order.
Value GatherAxis(Op& op, const Value& x, int axis, IntSpan places);
// The same for places that are a vector of the program.
Value GatherAxis(Op& op, const Value& x, int axis, const Value& places);

}  // namespace tenon::stablehlo
