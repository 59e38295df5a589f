// Flags that say what a model is fed with and what its results are compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/cli/options/compile_flags.h"

namespace tenon::cli {

// How far results may differ from what is expected. An optional is empty if its flag is not given.
struct ToleranceFlags {
  std::optional<double> rtol, atol;
  std::optional<int64_t> max_ulp;
  bool equal_nan = false;

  void DeclareTolerance(Declarer& d);
};

struct RequestFlags : CompileFlags, ToleranceFlags {
  std::vector<std::string> inputs;       // NAME=SPEC
  std::vector<std::string> input_files;  // .npz archives
  std::vector<std::string> expects;      // NAME=SPEC

  void DeclareFeeds(Declarer& d);  // --input, --inputs
};

}  // namespace tenon::cli
