// Runs graphs without passes, so that their answers can be compared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/proof/difference.h"
#include "executor/proof/input_sets.h"
#include "executor/proof/trial_state.h"
#include "executor/session/session.h"

namespace tenon {

// Runs each graph in a session of its own, without any pass; WithCallsInlined alone uses one. Not
// thread-safe: all functions but WithCallsInlined keep made-up values of variables for later runs,
// and copies of a runner share them.
class GraphRunner {
 public:
  // `options`: the options of the optimizer are ignored, and InputSet::max_loop_passes takes the
  // place of options.max_loop_passes. Random ops without a seed get one, so that two runs answer
  // the same. The devices outlive the runner. `inits`: nodes that give state its values. Before all
  // other nodes, each run executes once each node of `inits` that its graph has, in this order and
  // without feeds.
  GraphRunner(std::vector<Device*> devices, SessionOptions options,
              std::vector<std::string> inits = {});

  // From now on each run begins with a copy of the state that `holder` has when the run begins.
  // `holder` outlives the runner.
  void TakeStateOf(Session* holder) { holder_ = holder; }

  // Runs the graph once. Before the inits, variables that the copied state does not hold get values
  // that are made up (MadeUpState). Returns the values of `fetches`, in their order. The value of a
  // "^init" among them is uninitialized. Errors are those of CopyState, MadeUpState::Fill,
  // Session::Create and Session::Run.
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph, const InputSet& inputs,
                                          const std::vector<std::string>& fetches) const;
  // Runs the graph as often as AnswerApart asks, so that one fetch that fails hides no other;
  // AnswerApart names the exceptions.
  Answer RunApart(const Graph& graph, const InputSet& inputs,
                  absl::Span<const std::string> fetches) const;

  // Returns the graph as it is for a run of `fetches` ("^node" names a node that is to run) in
  // which the nodes of `inputs` are fed: bodies of functions stand in the place of calls that can
  // be inlined, and of branches that are known to be taken. Nodes that no fetch needs may still be
  // there. Runs nothing. Errors are those of Session::Create and Session::Prepare.
  absl::StatusOr<Graph> WithCallsInlined(const Graph& graph, const InputSet& inputs,
                                         const std::vector<std::string>& fetches) const;

  // Compares the outputs that both graphs have with the same type, in topological order of `after`;
  // fed nodes, handles and variants are left out. Returns the name ("node" or "node:1") of the
  // first output that differs by more than `sameness` allows, that fails only in `after`, or that
  // fails only in `before`. Returns "" if there is none, and without comparing if `after` has a
  // cycle or control flow of version 1.
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
