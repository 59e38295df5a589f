// Compares what a graph answers as it is with what it answers when it is optimized.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/proof/bisect.h"
#include "executor/proof/difference.h"
#include "executor/proof/graph_runner.h"
#include "executor/proof/input_sets.h"
#include "executor/session/session.h"

namespace tenon {

// The rewrites that make an answer wrong.
struct Bisected : Bisection {
  // If passes of plug-ins are among them: the first node that gets another value. Empty: not known.
  std::string first_different;
};

// A graph with inputs for which its answer may be wrong.
struct FailingCase {
  Graph graph;
  std::vector<InputSet> inputs;
  std::vector<std::string> fetches;
  std::vector<std::string> inits = {};  // nodes that run once, in this order, before all else
};

// Says how `is` differs from `right`; nothing if it does not.
using JudgeValue = std::function<std::optional<std::string>(const Tensor& right, const Tensor& is)>;

// Runs a case with and without passes, in sessions of its own, and compares the answers. Thread-
// compatible; devices outlive it.
class ResultJudge {
 public:
  // `options`: of a session that optimizes. Their observers see all that is optimized.
  // `begin` prepares a new session before the nodes of FailingCase::inits run.
  ResultJudge(std::vector<Device*> devices, SessionOptions options, JudgeValue judge,
              std::function<absl::Status(Session&)> begin);

  // Removes the fetches that fail without any pass, on the first inputs for which another fetch has
  // a value. Returns a line for each: "output y: why". If every fetch fails, all stay.
  std::vector<std::string> DropFailing(FailingCase& failing) const;

  // Compares the answers with all passes and with none. Returns the first difference ("of output y
  // element [0] is 1 where 2 was (inputs 'ordinary')"), or nothing if the answers agree.
  std::string OptimizedIsWrong(const FailingCase& failing) const;

  // Finds the rewrites that make an answer wrong, or that hide an error. FAILED_PRECONDITION if the
  // graph runs on none of its inputs, with passes or without.
  absl::StatusOr<Bisected> BisectRewrites(const FailingCase& failing) const;
  // Finds the nodes that answer otherwise on their device than on the CPU, without any pass.
  // Nothing if all nodes are on the CPU.
  absl::StatusOr<std::optional<Bisection>> BisectPlacement(const FailingCase& failing) const;

 private:
  // Without a pass.
  SessionOptions Plain() const;
  // The same, and every node on the CPU.
  SessionOptions OnCpu() const;
  // With passes, but only these rewrites.
  SessionOptions Optimized(int64_t limit, absl::Span<const std::string> beyond) const;

  // The value that the passes of plug-ins among the culprits change first.
  std::string FirstDifference(const FailingCase& failing,
                              const std::vector<std::string>& culprits) const;

  // A session of the failing case's graph, brought to where runs begin.
  absl::StatusOr<std::unique_ptr<Session>> Begin(const FailingCase& failing,
                                                 const SessionOptions& options) const;

  // One run in a session of its own. `log`, if there is one, hears what passes do for this run
  // alone, not for what runs before it.
  absl::StatusOr<std::vector<Tensor>> RunOnce(const FailingCase& failing, const InputSet& inputs,
                                              const SessionOptions& options,
                                              const std::vector<std::string>& fetches,
                                              PipelineObserver* log = nullptr) const;
  // By set of inputs, each in a session of its own. `log` hears of the first one: the others ask
  // for the same rewrites.
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
