// Runs graphs just as they are, so that their answers can be compared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/proof/difference.h"
#include "executor/proof/input_sets.h"
#include "executor/proof/trial_state.h"
#include "executor/session/session.h"

namespace tenon {

class GraphRunner {
 public:
  // Of `options` all counts but what concerns the optimizer; random ops without a seed get one, so
  // that they answer the same twice. The devices outlive the runner. `inits`: nodes that give state
  // its values; where the graph has them, they run before all else, in this order, and only then.
  GraphRunner(std::vector<Device*> devices, SessionOptions options,
              std::vector<std::string> inits = {});

  // From now on runs begin with a copy of what `holder`, which outlives the runner, holds by then.
  void TakeStateOf(Session* holder) { holder_ = holder; }

  // One run in a session of its own. Variables whose values nobody knows have values that were made
  // up.
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph, const InputSet& inputs,
                                          const std::vector<std::string>& fetches) const;
  // The same, or as many as it takes: see AnswerApart.
  Answer RunApart(const Graph& graph, const InputSet& inputs,
                  absl::Span<const std::string> fetches) const;

  // The part of the graph that gives these outputs, and "^node" others that are to run, with bodies
  // of functions in the place of calls where that can be.
  absl::StatusOr<Graph> WithCallsInlined(const Graph& graph, const InputSet& inputs,
                                         const std::vector<std::string>& fetches) const;

  // The node that, among those that both graphs have, is the first to give something else, to fail,
  // or to have a value where it failed; empty if none is.
  std::string FirstDifference(const Graph& before, const Graph& after, const InputSet& inputs,
                              Sameness sameness) const;

 private:
  std::vector<Device*> devices_;
  SessionOptions options_;
  std::vector<std::string> inits_;
  Session* holder_ = nullptr;
  std::shared_ptr<MadeUpState> made_up_ = std::make_shared<MadeUpState>();
};

}  // namespace tenon
