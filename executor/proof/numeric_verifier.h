// Runs the graph before and after each pass on made-up inputs, and refuses passes that change the
// graph's answers by more than they may.
#pragma once

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/proof/difference.h"
#include "executor/proof/graph_runner.h"
#include "executor/proof/input_sets.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Demands of a pass:
//   only exact rewrites   the same bits on every set of inputs; an error where there was one
//   other rewrites too    the same bits on every set after its exact rewrites alone, if it has any;
//                         and after all of them, on ordinary sets (InputSet::ordinary), values
//                         within a bound and an error where there was one
//   a plug-in's pass, which does not say how exact its rewrites are
//                         values within the bound on every set; an error where there was one
// The bound is Sameness::kBound. It is kRounded if the graph before or after the pass has floats of
// 16 bits, and for good once a rewrite of any pass has chosen less precision. For a pass on a body,
// the body and the graph that calls it count. Bodies of other functions do not count. "An error
// where there was one" is as in CompareAnswers, which names what may differ.
//
// Each output is compared by itself, so an output that fails keeps no other from being compared,
// but for the exceptions of AnswerApart. Of outputs that differ between two runs of one graph no
// values are compared. The body of a function is run where it is called; a part of the body that
// the inputs do not reach is not compared. Thread-compatible, as passes run one by one.
class NumericVerifier : public PipelineObserver {
 public:
  // `custom`: passes besides those of the pass order.
  explicit NumericVerifier(GraphRunner runner, absl::Span<const PassEntry> custom = {});

  // From now on variables, tables and queues have copies of what `holder` holds at each run.
  // `holder` outlives the verifier and is not changed.
  void TakeStateOf(Session* holder) { runner_.TakeStateOf(holder); }

  // Limits the time of all comparisons together. When it is used up, the comparison in progress
  // runs its graphs on no further set of inputs, but each on the first set, and later passes are
  // not compared.
  void set_time_limit(double seconds) { limit_s_ = seconds; }

  // Adds the values that the graph is really fed with to the made-up ones. They are used for passes
  // on graphs that are fed at the same nodes; by themselves, if none can be made up. A second call
  // replaces the values of the first. To be called before the passes that are to use them run.
  void AddInputs(std::vector<Session::NamedTensor> feeds);

  void BeforePass(const PassRun& run) override;
  void OnRewrite(const RewriteEvent& event) override;
  // INTERNAL if the pass does not meet its demand; names the difference, the inputs and, if the
  // pass can be replayed, the rewrite and its node. Other errors are those of `replay`. OK, too, if
  // nothing could be compared.
  absl::Status CheckPass(const PassRun& run, const Graph& after, const ReplayPass& replay) override;

  // Passes that changed a graph with outputs to compare, or the body of a function.
  int64_t changes() const { return changes_; }
  // Those of them that were compared on one set of inputs at least.
  int64_t passes_compared() const { return passes_; }
  // Runs of graphs to compare answers; one that AnswerApart takes apart counts once.
  int64_t runs() const { return runs_; }
  // Passes that the time limit kept from being compared on all inputs.
  int64_t passes_cut_short() const { return cut_short_; }
  // Why some pass or output could not be compared: no inputs could be made up, or the output had no
  // value on any. Empty if there is none. Says nothing of the time limit.
  const std::string& not_compared() const { return not_compared_; }

 private:
  struct Mismatch {
    size_t set;
    AnswerDifference difference;
  };
  struct Partial {
    Graph graph;
    int64_t rewrites = 0;
    std::string last;  // "rewrite P.R at node 'n'"
  };

  absl::Status Check(const PassRun& run, const Graph& after, const ReplayPass& replay, bool rounds);
  absl::Status CheckWhole(const PassRun& run, const Graph& after, const ReplayPass& replay);
  bool IsLate() const;
  Exactness ExactnessOf(const RewriteEvent& event) const;
  bool Prepare(const PassRun& run);
  bool MakeSets(const Graph& graph, int64_t usual_size);
  void FindSteady(const Graph& graph, const std::vector<Answer>& answers);
  Answer Run(const Graph& graph, size_t set, absl::Span<const std::string> fetches);
  // By set of inputs.
  std::vector<Answer> RunAll(const Graph& graph, absl::Span<const std::string> fetches);
  std::optional<Mismatch> Compare(const std::vector<Answer>& answers, Sameness sameness,
                                  bool corners) const;
  std::optional<AnswerDifference> CompareOne(const Answer& was, const Answer& is,
                                             Sameness sameness) const;
  absl::StatusOr<Partial> FirstOnes(const ReplayPass& replay, Sameness sameness,
                                    int64_t count) const;
  absl::Status FindWrongRewrite(const PassRun& run, const Graph& after, const ReplayPass& replay,
                                Sameness sameness, const Mismatch& mismatch);

  GraphRunner runner_;
  absl::flat_hash_map<std::string, Exactness> exactness_;  // by full name of the rewrite
  absl::flat_hash_set<std::string> classed_;  // passes whose rewrites say how exact they are
  int64_t done_ = 0, exact_ = 0;              // rewrites of the running pass
  bool rounded_ = false;  // some rewrite, of this pass or one before, computes in less precision
  std::vector<std::string> feeds_, fetches_;
  std::optional<InputSet> given_;
  std::vector<InputSet> sets_;
  std::vector<bool> steady_;      // by fetch: answers the same in two runs
  std::vector<Answer> baseline_;  // of the graph with this fingerprint
  uint64_t baseline_of_ = 0;
  int64_t changes_ = 0, passes_ = 0, runs_ = 0, cut_short_ = 0;
  double limit_s_ = std::numeric_limits<double>::infinity(), spent_s_ = 0;
  std::chrono::steady_clock::time_point begin_;  // of the comparison that goes on
  bool cut_ = false;                             // it left inputs out
  std::string not_compared_;
};

}  // namespace tenon
