// StableHLO text to a module.
#pragma once

#include <memory>
#include <string_view>

#include "module.h"

namespace pjref {

// Reads pretty and generic forms of the dialects builtin, func, stablehlo and chlo. Throws a
// refusal with kUnknown and
// "-:LINE:COLUMN: error: ..." for text that does not parse. Names, scopes, and the types at
// operands are checked here; what an op asks of its operands is the checker's (ops/check.h).
std::unique_ptr<Module> ParseText(std::string_view text);

}  // namespace pjref
