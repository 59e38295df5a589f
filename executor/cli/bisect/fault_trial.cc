#include "executor/cli/bisect/fault_trial.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/command_line.h"
#include "executor/cli/tensors/array_file.h"
#include "executor/values/text.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

// Limits of what is read back; both are far above what the program writes.
constexpr size_t kMaxWords = size_t{1} << 20;
constexpr size_t kMaxDocument = size_t{1} << 26;

// Runs a command in a shell and returns its exit code; 128 + n if signal n ended the shell.
absl::StatusOr<int> RunShell(const std::string& command) {
  char shell[] = "/bin/sh", flag[] = "-c";
  std::string text = command;
  char* const argv[] = {shell, flag, text.data(), nullptr};
  pid_t pid = 0;
  if (const int error = posix_spawn(&pid, shell, nullptr, nullptr, argv, environ); error != 0)
    return absl::ResourceExhaustedError(absl::StrCat(shell, ": ", std::strerror(error)));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return absl::InternalError(absl::StrCat("waitpid: ", std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The last line without the program's name in front and without the hints that follow a fault.
std::string LastWords(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.rfind('\n') + 1);
  if (const size_t name = text.find(": "); name != text.npos) text.remove_prefix(name + 2);
  return std::string(text.substr(0, text.find("; ")));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FaultTrial>> FaultTrial::Make(const CompileFlags& flags) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "graph_run_XXXXXX").string();
  if (error)
    return absl::ResourceExhaustedError(
        absl::StrCat("the folder of temporary files (TMPDIR): ", error.message()));
  if (mkdtemp(folder.data()) == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat(folder, ": ", std::strerror(errno)));
  return std::unique_ptr<FaultTrial>(new FaultTrial(flags, std::move(folder)));
}

FaultTrial::~FaultTrial() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string RequestArguments(const FailingCase& failing) {
  std::string flags;
  for (const std::string& fetch : failing.fetches)
    absl::StrAppend(&flags, " --output ", ShellWord(fetch));
  for (const std::string& init : failing.inits)
    absl::StrAppend(&flags, " --init ", ShellWord(init));
  return flags;
}

std::string FaultTrial::CommandFor(const std::string& graph, const std::string& inputs,
                                   const FailingCase& failing) const {
  std::string line =
      absl::StrCat("run ", ShellWord(graph), " --inputs ", ShellWord(inputs),
                   RequestArguments(failing), OptimizerArguments(flags_), PassArguments(flags_));
  line += TimeoutArgument(flags_);
  return line;
}

absl::StatusOr<int> FaultTrial::RunQuietly(const std::string& command, const std::string& out,
                                           const std::string& err) const {
  // The child writes reproducers to its folder for temporary files, and this one is removed.
  return RunShell(absl::StrCat("TMPDIR=", ShellQuoted(folder_), " exec ", ProgramWord(), " ",
                               command, " --quiet </dev/null >", ShellQuoted(out), " 2>",
                               ShellQuoted(err)));
}

absl::StatusOr<std::string> FaultTrial::DocumentOf(const std::string& command) const {
  const std::string document = folder_ + "/document";
  TENON_RETURN_IF_ERROR(
      RunQuietly(absl::StrCat(command, " --json"), document, "/dev/null").status());
  TENON_ASSIGN_OR_RETURN(const FileBytes said, ReadFile(document, kMaxDocument));
  return std::string(said.bytes);
}

absl::StatusOr<std::string> FaultTrial::Of(const FailingCase& failing) const {
  const std::string graph = folder_ + "/graph.pb", inputs = folder_ + "/inputs.npz",
                    words = folder_ + "/words";
  TENON_RETURN_IF_ERROR(ExportFile(failing.graph, graph));
  TENON_RETURN_IF_ERROR(SaveArchive(inputs, failing.inputs[0].feeds));
  TENON_ASSIGN_OR_RETURN(const int exit,
                         RunQuietly(CommandFor(graph, inputs, failing), "/dev/null", words));
  if (exit != static_cast<int>(Exit::kPluginFault) && exit != static_cast<int>(Exit::kTimeout))
    return std::string();
  TENON_ASSIGN_OR_RETURN(const FileBytes said, ReadFile(words, kMaxWords));
  return LastWords(said.bytes);
}

}  // namespace tenon::cli
