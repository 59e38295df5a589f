// Compares the answers of a graph as it is with its answers when it is optimized.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/proof/bisect.h"
#include "executor/proof/difference.h"
#include "executor/proof/graph_runner.h"
#include "executor/proof/input_sets.h"
#include "executor/session/session.h"

namespace tenon {

// The rewrites that make an answer wrong. Bisection::faulty holds their RewriteKeys; an empty
// Bisection::wrong means that no answer is wrong.
struct Bisected : Bisection {
  // The first output ("node" or "node:1") that passes of plug-ins change, of those passes that
  // `faulty` holds (GraphRunner::FirstDifference). Empty: `faulty` holds no such pass, or the
  // output was not found.
  std::string first_different;
};

// A graph with inputs for which its answer may be wrong.
struct FailingCase {
  Graph graph;
  std::vector<InputSet> inputs;
  std::vector<std::string> fetches;
  std::vector<std::string> inits = {};  // nodes that run once in each session, in this order, first
};

// Says how `is` differs from `right`; nothing if it does not. Either may lack a value.
using JudgeValue = std::function<std::optional<std::string>(const Tensor& right, const Tensor& is)>;

// Runs a case with and without passes and compares the answers. Every run has a session of its own,
// so that no run sees the state of another. Thread-compatible. The devices outlive the judge.
class ResultJudge {
 public:
  // `options`: of a session that optimizes; its observers see every optimization. Random ops
  // without a seed get one, the same in every session. The observers outlive the judge. `begin`
  // prepares each new session before the nodes of FailingCase::inits run. Neither `judge` nor
  // `begin` may be empty.
  ResultJudge(std::vector<Device*> devices, SessionOptions options, JudgeValue judge,
              std::function<absl::Status(Session&)> begin);

  // Runs without any pass. Finds the first set of inputs on which some fetch has a value. Removes
  // the fetches that have no value on this set; other sets do not matter. Returns a line for each
  // fetch that it removes: "output y: why". If no fetch has a value on any set, removes nothing and
  // returns nothing. Removes no set of inputs.
  std::vector<std::string> DropFailing(FailingCase& failing) const;

  // Compares the answers with all passes and with none. Returns the first difference ("of output y
  // element [0] is 1 where 2 is right (inputs 'ordinary')"), or an empty text if the answers agree
  // (CompareAnswers), as when every run fails in both.
  std::string OptimizedIsWrong(const FailingCase& failing) const;

  // Finds the rewrites that make an answer wrong, or that hide an error. FAILED_PRECONDITION if no
  // answer is wrong but no run without passes succeeds either, or if there is no set of inputs;
  // INTERNAL as Bisect.
  absl::StatusOr<Bisected> BisectRewrites(const FailingCase& failing) const;
  // Compares the answers, without any pass, of nodes where they are placed and compiled with those
  // of ordinary kernels of the CPU. Returns the first difference as OptimizedIsWrong does.
  std::string PlacedIsWrong(const FailingCase& failing) const;

  // Finds the nodes that make an answer wrong on their device, or in the program that a device
  // compiles of them, as compared with all nodes on the CPU's kernels; without any pass.
  // Bisection::faulty holds their names; an empty Bisection::wrong means that no answer is wrong.
  // Nothing if all nodes are on the CPU's kernels. There must be a set of inputs.
  // FAILED_PRECONDITION if the graph runs on none of its inputs with all nodes on the CPU; other
  // errors are those of Session::Create, Session::Prepare and Bisect.
  absl::StatusOr<std::optional<Bisection>> BisectPlacement(const FailingCase& failing) const;

 private:
  // Options without any pass.
  SessionOptions Plain() const;
  // Options without any pass, with every node on kernels of the CPU.
  SessionOptions OnCpu() const;
  // Options without any pass, with these nodes on kernels of the CPU and the others where they are
  // placed, in clusters of any size.
  SessionOptions Placed(std::set<std::string, std::less<>> away) const;
  // Options with passes, of which the first `limit` rewrites happen, and those that `beyond` names.
  SessionOptions Optimized(int64_t limit, absl::Span<const std::string> beyond) const;

  // The name of the first node whose value the plug-ins' passes among `faulty` change; "" if there
  // is none.
  std::string FirstDifference(const FailingCase& failing,
                              const std::vector<std::string>& faulty) const;

  // A session of the case's graph in which `begin` and the inits have run.
  absl::StatusOr<std::unique_ptr<Session>> Begin(const FailingCase& failing,
                                                 const SessionOptions& options) const;

  // One run in a session of its own. `log`, if not null, observes the optimization for this run,
  // and not those for the runs of `begin` and the inits.
  absl::StatusOr<std::vector<Tensor>> RunOnce(const FailingCase& failing, const InputSet& inputs,
                                              const SessionOptions& options,
                                              const std::vector<std::string>& fetches,
                                              PipelineObserver* log = nullptr) const;
  // The answers by set of inputs. `log` observes the optimization for the first set alone: the
  // other sets ask for the same rewrites.
  std::vector<Answer> AnswersOf(const FailingCase& failing, const SessionOptions& options,
                                PipelineObserver* log = nullptr) const;
  // As OptimizedIsWrong.
  std::string Compare(const FailingCase& failing, const std::vector<Answer>& right,
                      const std::vector<Answer>& is) const;

  std::vector<Device*> devices_;
  SessionOptions options_;
  JudgeValue judge_;
  std::function<absl::Status(Session&)> begin_;
};

}  // namespace tenon
