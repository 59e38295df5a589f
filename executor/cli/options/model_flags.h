// Flags that say how a model is read.
#pragma once

#include <string>

#include "executor/cli/options/common_flags.h"
#include "graph/io/io.h"

namespace tenon::cli {

struct ModelFlags : CommonFlags {
  std::string signature;  // of a SavedModel; empty: as ChooseSignature chooses
  ImportLimits limits;
  // The greatest rank of a constant or a declared shape. LoadModel and ImportModel check it.
  int64_t max_rank = kMaxRank;

  void DeclareSignature(Declarer& d);  // --signature
  void DeclareLimits(Declarer& d);     // --max-nodes, --max-const-bytes, --max-depth, --max-rank
};

}  // namespace tenon::cli
