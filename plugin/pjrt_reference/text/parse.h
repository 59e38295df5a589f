// StableHLO text to a module.
#pragma once

#include <memory>
#include <string_view>

#include "module.h"

namespace pjref {

// Reads pretty and generic forms of the dialects builtin, func, stablehlo and chlo. Throws a
// refusal with "-:LINE:COLUMN: error: ...": kUnknown for text that does not parse, kUnimplemented
// for types and blocks that the plug-in does not know and functions without a body,
// kInvalidArgument for a dimension or a rank that is not known. Without memory for a constant,
// throws kResourceExhausted, which has no place. Checks names, scopes, and the types at operands.
// The checker (ops/check.h) checks what an op asks of its operands.
std::unique_ptr<Module> ParseText(std::string_view text);

}  // namespace pjref
