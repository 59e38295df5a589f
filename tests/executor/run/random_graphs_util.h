// Graphs made at random: ops of many kinds, branches, loops, state, values whose shapes only a run
// knows, and nodes that fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/tensor/tensor.h"

namespace tenon::testing {

struct RandomGraph {
  std::string text;
  // Of the placeholders "x" and "y", which are square matrices, and "p", a truth value.
  std::vector<std::string> feeds;
  std::vector<Tensor> values;
  std::vector<std::string> fetches;
  // Whether a run changes what a later run sees, or sees what another run changes.
  bool has_state = false;
};

// Of one seed always the same. `for_apu`: with many nodes of which the APU plug-in has kernels.
RandomGraph MakeRandomGraph(uint32_t seed, bool for_apu = false);

}  // namespace tenon::testing
