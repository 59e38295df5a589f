// A sub-command as one row, which stands at the end of the sub-command's own source.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "executor/cli/options/common_flags.h"
#include "executor/cli/options/invocation.h"

namespace tenon::cli {

// The values of a sub-command's flags, and the work that it does with them. Used once, on one
// thread: Declare, then parsing, then Run.
class Work {
 public:
  virtual ~Work() = default;
  // Declares the flags. The object must outlive the parsing, which writes into it.
  virtual void Declare(Declarer& declarer) = 0;
  // The flags that commands share; parsing fills those that the command has declared.
  virtual CommonFlags& flags() = 0;
  // Does the work. Fills the document and text of `invocation` as far as it gets, even if it fails.
  // The exit code of an error is ExitOf.
  virtual absl::Status Run(Invocation& invocation) = 0;
};

struct Command {
  std::string_view name;         // one word or two
  std::string_view arguments;    // "MODEL"; empty if there are none
  size_t fewest, most;           // how many arguments there may be; SIZE_MAX: no limit
  std::string_view what;         // one line
  std::string_view examples[2];  // whole lines for a shell; they work in the root of the project
  std::unique_ptr<Work> (*start)();  // makes a Work with all flags at their defaults
  // Must be true if the command forks without an exec: no watchdog runs then, since its thread
  // would be in the way of the fork. The command limits the time of its child processes itself.
  bool watches_processes = false;
};

// A value for Command::start: each call makes a Work with Flags of its own, and the Work's Run
// calls kRun. `Flags` is derived from CommonFlags and has a method Declare that declares the flags
// of the command.
template <typename Flags, absl::Status (*kRun)(const Flags&, Invocation&)>
std::unique_ptr<Work> Start() {
  class WorkWithFlags final : public Work {
   public:
    void Declare(Declarer& declarer) override { flags_.Declare(declarer); }
    CommonFlags& flags() override { return flags_; }
    absl::Status Run(Invocation& invocation) override { return kRun(flags_, invocation); }

   private:
    Flags flags_;
  };
  return std::make_unique<WorkWithFlags>();
}

}  // namespace tenon::cli
