// Flags that say how a model is read.
#pragma once

#include <string>

#include "executor/cli/options/common_flags.h"
#include "graph/io/io.h"

namespace tenon::cli {

struct ModelFlags : CommonFlags {
  std::string signature;  // of a SavedModel; empty: the default
  ImportLimits limits;
  int64_t max_rank = kMaxRank;

  void DeclareSignature(Declarer& d);
  void DeclareLimits(Declarer& d);
};

}  // namespace tenon::cli
