// Starting graph_run as a user does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tenon::testing {

// A model that many tests run.
inline constexpr char kMlp[] = "tests/golden/models/mlp/graph.pbtxt";

struct Finished {
  int exit = -1;    // the exit code; 128 + signal for a process that a signal ended
  std::string out;  // stdout
  std::string err;  // stderr
};

struct Start {
  std::vector<std::string> args;                        // without the program
  std::string input = {};                               // its standard input
  std::map<std::string, std::string> environment = {};  // on top of this process's
  bool ignore_children = false;    // start it with SIGCHLD ignored, as some daemons start programs
  size_t largest_file = SIZE_MAX;  // that it may write, as if the disk were full then
  std::function<void(pid_t)> meanwhile = nullptr;  // done beside it, on a thread of its own
};

// Runs build/.../bin/graph_run from the project's root and waits.
Finished GraphRun(const Start& start);
Finished GraphRun(std::vector<std::string> args);

// A file below the test's temporary folder, written with `content`.
std::string TempFile(const std::string& name, const std::string& content);
std::string TempPath(const std::string& name);
std::string ReadFile(const std::string& path);

// Arguments that feed and check a golden model as its model.json says.
std::vector<std::string> GoldenRun(const std::string& model, const std::vector<std::string>& feeds,
                                   const std::vector<std::string>& fetches);
std::string GoldenGraph(const std::string& model);

}  // namespace tenon::testing
