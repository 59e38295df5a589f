// The place for the output of a sub-command.
#pragma once

#include <string>

#include "executor/cli/options/common_flags.h"
#include "executor/values/json.h"
#include "executor/values/text.h"
#include "tenon/graph_run.h"

namespace tenon::cli {

// Sub-commands fill `doc` and `text`. The main function prints one of them to stdout at the end,
// after an error too. There is one Invocation in a process, used by the main thread.
struct Invocation {
  OutputFlags output;
  Json doc = Json::Object();                // printed with --json
  std::string text;                         // printed without --json
  Style style;                              // for `text`
  AllocationCounter allocations = nullptr;  // null: allocations are not counted

  bool json() const { return output.json; }
};

}  // namespace tenon::cli
