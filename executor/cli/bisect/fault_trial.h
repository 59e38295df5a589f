// Whether a plug-in ends the process that optimizes and runs a graph: tried in a process of its
// own, so that this one can go on.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/proof/result_judge.h"

namespace tenon::cli {

// " --output …" and " --init …" of what is asked of it, for a command line.
std::string RequestArguments(const FailingCase& failing);

class FaultTrial {
 public:
  // Tries on the devices and with the passes of this command; in a temporary folder, which goes
  // with the object. `flags` must outlive it.
  static absl::StatusOr<std::unique_ptr<FaultTrial>> Make(const CompileFlags& flags);
  ~FaultTrial();

  // What the process said of the plug-in that ended it, or that did not come back; empty if none
  // did. Of the first inputs.
  absl::StatusOr<std::string> Of(const FailingCase& failing) const;
  // What this program says to a command line, without its name at the front, that asks for a
  // document.
  absl::StatusOr<std::string> DocumentOf(const std::string& command) const;
  // The command that does it, for a graph and inputs in files.
  std::string CommandFor(const std::string& graph, const std::string& inputs,
                         const FailingCase& failing) const;

 private:
  FaultTrial(const CompileFlags& flags, std::string folder)
      : flags_(flags), folder_(std::move(folder)) {}

  // The exit code of this program, given such a command line; what it says goes into these files.
  absl::StatusOr<int> RunQuietly(const std::string& command, const std::string& out,
                                 const std::string& err) const;

  const CompileFlags& flags_;
  const std::string folder_;
};

}  // namespace tenon::cli
