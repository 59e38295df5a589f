// A graph with inputs on which the optimizer is under suspicion: what it answers as it is, and what
// it answers optimized.
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

// Where the passes of plug-ins are the culprits: what they changed.
struct Bisected : Bisection {
  std::string first_different;  // the first node whose value is another; empty: not known
};

struct Suspect {
  Graph graph;
  std::vector<InputSet> inputs;
  std::vector<std::string> fetches;
  std::vector<std::string> inits = {};  // nodes that run once, in this order, before all else
};

// How a value differs from what it should be; nothing if it does not.
using JudgeValue = std::function<std::optional<std::string>(const Tensor& right, const Tensor& is)>;

class Court {
 public:
  // `options` as for a session that optimizes; its observers watch over all that is optimized.
  // `begin` brings a new session to where what is to run first can run.
  Court(std::vector<Device*> devices, SessionOptions options, JudgeValue judge,
        std::function<absl::Status(Session&)> begin);

  // Takes away the outputs that have no value without any pass, on the first inputs on which
  // another has one: "output y: why". None where no output has a value.
  std::vector<std::string> DropFailing(Suspect& suspect) const;

  // Whether all passes together make it wrong, and how: "of output y element [0] is 1 where 2 was
  // (inputs 'ordinary')" is the first difference. Empty if there is none.
  std::string OptimizedIsWrong(const Suspect& suspect) const;

  // Looks for the rewrites that make it wrong: that hide an error, too. FAILED_PRECONDITION if the
  // graph cannot be run on any of its inputs, with passes or without.
  absl::StatusOr<Bisected> BisectRewrites(const Suspect& suspect) const;
  // Looks for the nodes that make it wrong by where they are placed, without any pass. Nothing if
  // all are on the CPU anyway.
  absl::StatusOr<std::optional<Bisection>> BisectPlacement(const Suspect& suspect) const;

 private:
  // Without a pass.
  SessionOptions Plain() const;
  // The same, and every node on the CPU.
  SessionOptions OnCpu() const;
  // With passes, but only these rewrites.
  SessionOptions Optimized(int64_t limit, absl::Span<const std::string> beyond) const;

  // The value that the passes of plug-ins among the culprits change first.
  std::string FirstDifference(const Suspect& suspect,
                              const std::vector<std::string>& culprits) const;

  // A session of the suspect's graph, brought to where runs begin.
  absl::StatusOr<std::unique_ptr<Session>> Begin(const Suspect& suspect,
                                                 const SessionOptions& options) const;

  // One run in a session of its own. `log`, if there is one, hears what passes do for this run
  // alone, not for what runs before it.
  absl::StatusOr<std::vector<Tensor>> RunOnce(const Suspect& suspect, const InputSet& inputs,
                                              const SessionOptions& options,
                                              const std::vector<std::string>& fetches,
                                              PipelineObserver* log = nullptr) const;
  // By set of inputs, each in a session of its own. `log` hears of the first one: the others ask
  // for the same rewrites.
  std::vector<Answer> AnswersOf(const Suspect& suspect, const SessionOptions& options,
                                PipelineObserver* log = nullptr) const;
  // As OptimizedIsWrong.
  std::string Compare(const Suspect& suspect, const std::vector<Answer>& right,
                      const std::vector<Answer>& is) const;

  std::vector<Device*> devices_;
  SessionOptions options_;
  JudgeValue judge_;
  std::function<absl::Status(Session&)> begin_;
};

}  // namespace tenon
