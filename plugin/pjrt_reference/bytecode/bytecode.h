// MLIR's bytecode to a module: portable artifacts of StableHLO, which JAX sends.
#pragma once

#include <memory>
#include <string_view>

#include "../text/module.h"

namespace pjref {

bool IsBytecode(std::string_view bytes);
// Reads versions 0 to 6 of the encoding with ops of the dialect vhlo, which become those of
// stablehlo. `bytes` must pass IsBytecode. Throws a refusal: kUnknown for bytes that are no module,
// kUnimplemented for what is not built here, kInvalidArgument for a dimension that is not known,
// kResourceExhausted without memory for a constant.
// The caller must check the module (ops/check.h).
std::unique_ptr<Module> ParseBytecode(std::string_view bytes);

}  // namespace pjref
