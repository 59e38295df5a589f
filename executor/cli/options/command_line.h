// Writes command lines that repeat what this process did, quoted for a shell.
#pragma once

#include <string>

#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// This program by its full path, quoted; "graph_run" if the system does not say.
std::string ProgramWord();

// The functions below return the flags that were given, their values as ShellWord has them, each
// with a blank before it. The text is empty if none of them was given.

// --plugin, the flags of PlacementFlags::given_placement, --disable-rewrite, --fast-math, --target
// and --precision. Plug-ins have their full paths, except a bare name of no file here: the system's
// loader finds its library. The flags of PassArguments are not among them.
std::string OptimizerArguments(const CompileFlags& flags);
// --passes, --disable-pass, --config and --opt-level. A file of --config has its full path.
std::string PassArguments(const OptimizerFlags& flags);
// --rtol, --atol, --max-ulp and --equal-nan. Numbers read back as the same.
std::string JudgeArguments(const ToleranceFlags& flags);
// --timeout, which reads back as the same number.
std::string TimeoutArgument(const CommonFlags& flags);

}  // namespace tenon::cli
