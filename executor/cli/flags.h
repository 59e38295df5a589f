// Command-line arguments to Options. The only user of the argument parser library.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options.h"

namespace tenon::cli {

struct ParsedArgs {
  Options options;
  std::string help;  // not empty: --help was asked for; print this and leave
};

// `args` without the program's name and sub-command. Errors are kUsage and name the flag, the
// closest known one, or the value that does not fit.
absl::StatusOr<ParsedArgs> ParseArgs(Command command, std::vector<std::string> args);

// `options` of bench and, in one text, more flags: those in which --ab's configurations may differ.
// Words may be quoted as in a shell.
absl::StatusOr<Options> WithFlags(Options options, const std::string& flags);

// Replaces each --flagfile FILE by the file's lines: one flag per line, '#' starts a comment.
absl::StatusOr<std::vector<std::string>> ExpandFlagFiles(const std::vector<std::string>& args);

}  // namespace tenon::cli
