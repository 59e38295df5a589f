// Tries in a child process whether a plug-in ends the process that optimizes and runs a graph, so
// that this process goes on.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/proof/result_judge.h"

namespace tenon::cli {

// The fetches and inits of `failing` for a command line, " --output …" and " --init …" for each,
// as ShellWord writes them, with a blank in front. The inputs are not among them.
std::string RequestArguments(const FailingCase& failing);

// Not thread-safe: trials share the files of one folder.
class FaultTrial {
 public:
  // Makes a temporary folder for the files of trials; the destructor removes it. Trials use the
  // devices and passes of `flags`, which must outlive the object. RESOURCE_EXHAUSTED: no folder can
  // be made.
  static absl::StatusOr<std::unique_ptr<FaultTrial>> Make(const CompileFlags& flags);
  ~FaultTrial();

  // Optimizes and runs the graph with its first inputs in a child process. There must be a set of
  // inputs. If the process ends with kPluginFault or kTimeout, returns its last line on stderr,
  // without the program's name and without hints. After any other end, also with an error, returns
  // an empty text. Waits for the process without a limit of its own: --timeout, if it was given, is
  // in the command. If the shell cannot start the program, the result is an empty text.
  // RESOURCE_EXHAUSTED: no shell can be started. INTERNAL: the system does not tell how the shell
  // ended. INVALID_ARGUMENT: the stderr to be read has more than 1 MiB. Other errors are those of
  // writing and reading the files of the trial.
  absl::StatusOr<std::string> Of(const FailingCase& failing) const;
  // Runs this program with `command`, a command line without its name, and --json. Returns what it
  // printed to stdout, whatever its exit code is. Its stderr is dropped. Errors are those of Of,
  // and INVALID_ARGUMENT if it printed more than 64 MiB.
  absl::StatusOr<std::string> DocumentOf(const std::string& command) const;
  // The command line with which Of would try a graph and inputs that are in these files, without
  // the program's name.
  std::string CommandFor(const std::string& graph, const std::string& inputs,
                         const FailingCase& failing) const;

 private:
  FaultTrial(const CompileFlags& flags, std::string folder)
      : flags_(flags), folder_(std::move(folder)) {}

  // Runs this program with the command line and returns its exit code; its output goes into the two
  // files. A process that signal n ended has code 128 + n.
  absl::StatusOr<int> RunQuietly(const std::string& command, const std::string& out,
                                 const std::string& err) const;

  const CompileFlags& flags_;
  const std::string folder_;
};

}  // namespace tenon::cli
