// Parses command-line arguments into the flags of a sub-command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/command.h"

namespace tenon::cli {

// Parses `args`, which lack the program's name and the sub-command and come from ExpandFlagFiles,
// into the flags of `work`. If an argument is --help or -h, returns the text of --help, whatever
// the other arguments are; the caller prints it and ends. Otherwise returns an empty text. The
// error is kUsage. It names the flag as it was given, the closest known flag, the value that does
// not fit, or which arguments are missing or too many; flags before the error may have been
// written. A flag is no value of the flag before it, except of --ab; `--flag=--other` gives such a
// value.
absl::StatusOr<std::string> ParseArgs(const Command& command, std::vector<std::string> args,
                                      Work& work);

// The kUsage error that says which arguments the command needs.
absl::Status TooFewArguments(const Command& command);

// Parses the value of --ab into the flags that `declare` declares. Words may be quoted with ' or ";
// a backslash is a character like any other. kUsage: a flag that `declare` does not declare, a
// wrong value, an argument that is no flag, or an open quote.
absl::Status SetFlags(const std::string& text, const std::function<void(Declarer&)>& declare);

// Replaces each --flagfile FILE or --flagfile=FILE by the lines of the file, one flag a line:
// "--flag=value", "--flag" or "--flag value". The value of a flag is the rest of its line, blanks
// and quotes included, without blanks at its ends. A line that begins without '-' is one argument.
// Empty lines are skipped. A line that begins with '#' is a comment; a '#' elsewhere is not. Files
// may name files, 10 deep; all paths are relative to the working directory. kUsage: a file cannot
// be read or has more than 1 MiB, files nest deeper, or --flagfile is the last argument and names
// none.
absl::StatusOr<std::vector<std::string>> ExpandFlagFiles(const std::vector<std::string>& args);

}  // namespace tenon::cli
