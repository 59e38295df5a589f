// MLIR's bytecode to a module: portable artifacts of StableHLO, which JAX sends.
#pragma once

#include <memory>
#include <string_view>

#include "../text/module.h"

namespace pjref {

bool IsBytecode(std::string_view bytes);
// Reads versions 0 to 6 of the encoding with ops of the dialect vhlo, which become those of
// stablehlo. Throws a refusal: kUnknown for bytes that are no module, kUnimplemented for what is
// not built here. The module must be checked.
std::unique_ptr<Module> ParseBytecode(std::string_view bytes);

}  // namespace pjref
