// What a model is fed with, and what its answers are compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/cli/options/compile_flags.h"

namespace tenon::cli {

// By how much answers may differ.
struct ToleranceFlags {
  std::optional<double> rtol, atol;
  std::optional<int64_t> max_ulp;
  bool equal_nan = false;

  void DeclareTolerance(Declarer& d);
};

struct RequestFlags : CompileFlags, ToleranceFlags {
  std::vector<std::string> inputs;       // NAME=SPEC
  std::vector<std::string> input_files;  // .npz
  std::vector<std::string> expects;      // NAME=SPEC

  void DeclareFeeds(Declarer& d);
};

}  // namespace tenon::cli
