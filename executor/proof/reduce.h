// Makes a failing graph small.
#pragma once

#include <functional>

#include "executor/proof/graph_runner.h"
#include "executor/proof/suspect.h"

namespace tenon {

struct ReduceOptions {
  int64_t max_trials = 1000;
  // Hears of each smaller one that still fails.
  std::function<void(const Suspect&)> on_smaller;
};

struct Reduction {
  Suspect suspect;  // one set of inputs
  int64_t trials = 0;
  bool stopped = false;  // by max_trials: a smaller one may be left
};

// `fails` says of a smaller suspect whether it still does; it is true of `suspect`, which has one
// set of inputs at least. Keeps one set and, if that is enough, one output; looks for an earlier
// node to be the output; cuts nodes off by feeding the values that they have (asked of `runner`);
// lets nodes pass on their input; takes control edges away; and makes inputs plain, until nothing
// more can go. Works on halves first, then on quarters, …: of n nodes, k of which are needed, in
// O(k log n) trials. Names stay.
absl::StatusOr<Reduction> Reduce(const Suspect& suspect, const GraphRunner& runner,
                                 const std::function<bool(const Suspect&)>& fails,
                                 const ReduceOptions& options = {});

}  // namespace tenon
