// Writes command lines that repeat what this process did, quoted for a shell.
#pragma once

#include <string>

#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// This program by its full path, quoted; "graph_run" if the system does not say.
std::string ProgramWord();
// The flags of devices and of the optimizer that were given, each with a blank before it. Plug-ins
// have their full paths. Flags that choose passes are those of PassArguments.
std::string OptimizerArguments(const CompileFlags& flags);
// --passes, --disable-pass, --config, --opt-level.
std::string PassArguments(const OptimizerFlags& flags);
// --rtol, --atol, --max-ulp, --equal-nan.
std::string JudgeArguments(const ToleranceFlags& flags);

}  // namespace tenon::cli
