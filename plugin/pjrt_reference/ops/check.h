// A module is whole: every op is known, fits its operands, and every function that is called
// exists.
#pragma once

#include "../text/module.h"

namespace pjref {

// Fills in what the interpreter needs (Op::row, callee, last_uses). Throws a refusal at the first
// op that does not fit.
void Check(Module* module);

// Runs function `function` of a module that was checked.
struct RunOptions;
std::vector<Array> RunFunction(const Module& module, const Function& function,
                               std::vector<Array> arguments, const RunOptions& options);

}  // namespace pjref
