// Makes a failing graph small (delta debugging).
#pragma once

#include <functional>

#include "executor/proof/graph_runner.h"
#include "executor/proof/result_judge.h"

namespace tenon {

struct ReduceOptions {
  int64_t max_trials = 1000;  // calls of `fails`
  // Called with each smaller case that still fails.
  std::function<void(const FailingCase&)> on_smaller;
};

struct Reduction {
  FailingCase failing;  // the smallest case that was found; one set of inputs
  int64_t trials = 0;
  bool stopped = false;  // max_trials ended the search: there may be a smaller case
};

// Reduces `failing`, which has at least one set of inputs and for which `fails` is true, until no
// step makes it smaller. The steps, in this order:
//  - keep one set of inputs, and half of the outputs again and again while a half fails alone;
//  - put bodies of functions in the place of calls;
//  - take an earlier node as the output;
//  - cut nodes off: feed the values that `runner` computes for them;
//  - let the readers of a node read its first input of the same type and shape instead;
//  - remove control edges;
//  - leave out initializers;
//  - make inputs plain: feed ones for floats.
// Each step tries halves of the graph first, then quarters and so on: O(k log n) trials for n nodes
// of which k are needed. Nodes keep their names. `fails` must answer the same for the same case.
absl::StatusOr<Reduction> Reduce(const FailingCase& failing, const GraphRunner& runner,
                                 const std::function<bool(const FailingCase&)>& fails,
                                 const ReduceOptions& options = {});

}  // namespace tenon
