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
  // The smallest case that was found; one set of inputs. It fails, with one exception: of several
  // sets none was found to fail alone, and no smaller case was found to fail. It then has the first
  // set, with which it need not fail.
  FailingCase failing;
  int64_t trials = 0;
  bool stopped = false;  // max_trials ended the search: there may be a smaller case
};

// Reduces `failing`, which has at least one set of inputs and for which `fails` is true. Its
// fetches and inits must be in its graph. The steps, in this order:
//  1. keep one set of inputs, and half of the outputs again and again while a half fails alone;
//  2. put bodies of functions in the place of calls;
//  3. take an earlier node as the only output;
//  4. cut nodes off: feed the values that `runner` computes for them;
//  5. let the readers of a node read an input of the node instead: the first that is output 0 of
//     a node, has a value that is fed or that `runner` computes, and has the node's type and shape;
//  6. remove control edges;
//  7. leave out initializers, one by one;
//  8. make inputs plain: feed ones for floats.
// Steps 3 to 7 are repeated while they remove nodes; the others are done once. Steps 3 to 5 only
// concern nodes with inputs and one output, of which `runner` computes a value. Steps 4, 5, 6 and 8
// try all nodes (step 8: all inputs) at once, then halves of those that are left, quarters and so
// on: O(k log n) trials for n nodes of which k are needed. Nodes keep their names. `fails` must
// answer the same for the same case; it is called on the calling thread. The result is always OK.
absl::StatusOr<Reduction> Reduce(const FailingCase& failing, const GraphRunner& runner,
                                 const std::function<bool(const FailingCase&)>& fails,
                                 const ReduceOptions& options = {});

}  // namespace tenon
