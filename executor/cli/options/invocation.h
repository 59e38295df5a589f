// Where the answer of a sub-command goes.
#pragma once

#include <string>

#include "executor/cli/options/common_flags.h"
#include "executor/values/json.h"
#include "executor/values/text.h"
#include "tenon/graph_run.h"

namespace tenon::cli {

// Sub-commands fill in `doc` and `text`; the main function prints the one that was asked for. One
// per process.
struct Invocation {
  OutputFlags output;
  Json doc = Json::Object();  // with --json
  std::string text;           // without
  Style style;                // of `text`
  AllocationCounter allocations = nullptr;

  bool json() const { return output.json; }
};

}  // namespace tenon::cli
