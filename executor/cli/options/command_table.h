// The sub-commands, and what the program says of itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/cli/options/command.h"
#include "executor/values/json.h"

namespace tenon::cli {

// All of them, in the order of the program's help.
const std::vector<const Command*>& Commands();
const Command* FindCommand(std::string_view name);
// The command that a command line starts with, and how many words its name takes: 1 or 2. Null if
// it starts with something else.
const Command* FindCommand(const std::vector<std::string>& args, size_t* words);

// The help of the whole program.
std::string ProgramHelp();
// "graph_run 0.1.0" and the numbers of every interface it speaks, one per line.
std::string VersionText();
// The same as keys: "tensorflow", "graph_def", "stream_executor", "graph_optimizer", "profiler".
void AddVersions(Json& doc);

}  // namespace tenon::cli
