// The table of sub-commands, and the texts of --help and --version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "executor/cli/options/command.h"
#include "executor/values/json.h"

namespace tenon::cli {

// All sub-commands, in the order of the program's help.
const std::vector<const Command*>& Commands();
// Null if there is none.
const Command* FindCommand(std::string_view name);
// The command that a command line starts with; null if it starts with something else. Sets *words
// to the number of words of its name, 1 or 2; 0 with null.
const Command* FindCommand(const std::vector<std::string>& args, size_t* words);

// The commands of two words with this first word, in the same order.
std::vector<const Command*> CommandsOfFamily(std::string_view word);

// A line for each command: name, arguments, what it does.
std::string CommandLines(absl::Span<const Command* const> commands);
// The help of the whole program.
std::string ProgramHelp();
// The text of --version: a line "graph_run 0.1.0", then lines with the versions of the interfaces
// that it implements.
std::string VersionText();
// Sets the versions of the interfaces as keys: "tensorflow", "graph_def", "stream_executor",
// "graph_optimizer", "profiler".
void AddVersions(Json& doc);

}  // namespace tenon::cli
