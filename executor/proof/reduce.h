// Makes a failing graph small.
#pragma once

#include <functional>

#include "executor/proof/graph_runner.h"
#include "executor/proof/suspect.h"

namespace tenon {

struct ReduceOptions {
  int64_t max_trials = 1000;
};

struct Reduction {
  Suspect suspect;  // one output, one set of inputs
  int64_t trials = 0;
};

// `fails` says of a smaller suspect whether it still does; it is true of `suspect`, which has one
// set of inputs at least. Keeps one set and one output, looks for an earlier node to be the output,
// cuts nodes off by feeding the values that they have (asked of `runner`), lets nodes pass on their
// input, and makes inputs plain, until nothing more can go. Names stay.
absl::StatusOr<Reduction> Reduce(const Suspect& suspect, const GraphRunner& runner,
                                 const std::function<bool(const Suspect&)>& fails,
                                 const ReduceOptions& options = {});

}  // namespace tenon
