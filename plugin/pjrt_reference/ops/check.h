// A module is whole: every op is known, fits its operands, and every function that is called
// exists.
#pragma once

#include "../text/module.h"

namespace pjref {

// Fills in what the interpreter needs (Op::row, callee, last_uses). Throws a refusal at the first
// op that does not fit, and for functions that call themselves or each other too deeply. To be
// called once.
void Check(Module* module);

struct RunOptions;  // ops/frame.h

// Runs function `function` of a module that was checked. `arguments` must have the types of the
// function's parameters, which is not checked. The results may share memory with the arguments,
// with constants of the module and with each other. The refusals are those of ops.
std::vector<Array> RunFunction(const Module& module, const Function& function,
                               std::vector<Array> arguments, const RunOptions& options);

}  // namespace pjref
