// Command-line arguments to the flags of a sub-command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/command.h"

namespace tenon::cli {

// Writes what `args` say, which come without the program's name and sub-command, into the flags of
// `work`. The answer is the text of --help where it was asked for: print this and leave; else it is
// empty. Errors are kUsage and name the flag, the closest known one, or the value that does not
// fit.
absl::StatusOr<std::string> ParseArgs(const Command& command, std::vector<std::string> args,
                                      Work& work);

// kUsage: what the command needs.
absl::Status TooFewArguments(const Command& command);

// Writes what one text says, the value of --ab, into the flags that `declare` declares. Words may
// be quoted as in a shell.
absl::Status SetFlags(const std::string& text, const std::function<void(Declarer&)>& declare);

// Replaces each --flagfile FILE by the file's lines: one flag per line, '#' starts a comment.
absl::StatusOr<std::vector<std::string>> ExpandFlagFiles(const std::vector<std::string>& args);

}  // namespace tenon::cli
