// A sub-command as one row, which stands at the end of its own source.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "executor/cli/options/common_flags.h"
#include "executor/cli/options/invocation.h"

namespace tenon::cli {

// The values of a sub-command's flags, and what the sub-command does with them.
class Work {
 public:
  virtual ~Work() = default;
  virtual void Declare(Declarer& declarer) = 0;
  virtual CommonFlags& flags() = 0;
  // Fills the invocation's document and text as far as it gets, also when it fails.
  virtual absl::Status Run(Invocation& invocation) = 0;
};

struct Command {
  std::string_view name;         // one word or two
  std::string_view arguments;    // "MODEL"; empty: none
  size_t fewest, most;           // how many there may be; SIZE_MAX: no limit
  std::string_view what;         // one line
  std::string_view examples[2];  // without the program's name; they work from the project's root
  std::unique_ptr<Work> (*start)();  // with all flags at their defaults
  bool watches_processes = false;    // it waits for processes of its own: no watchdog is needed
};

// Command::start. `Flags` is derived from CommonFlags, and its method Declare declares those flags
// that the command has.
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
