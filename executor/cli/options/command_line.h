// Command lines that do again what this one did, as a shell reads them.
#pragma once

#include <string>

#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// This program, by its full path.
std::string ProgramWord();
// The flags that say on what devices and how graphs are optimized, each with a blank before it;
// plug-ins by their full paths. Without those that say which passes run.
std::string OptimizerArguments(const CompileFlags& flags);
// --passes, --disable-pass, --config, --opt-level.
std::string PassArguments(const OptimizerFlags& flags);
// --rtol, --atol, --max-ulp, --equal-nan.
std::string JudgeArguments(const ToleranceFlags& flags);

}  // namespace tenon::cli
