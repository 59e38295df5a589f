// Runs the graph before and after each pass on made-up inputs, and refuses passes that change what
// it answers.
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

// Each output is compared apart: what one cannot answer keeps nobody from comparing the others.
// What is asked of a pass: where it did exact rewrites only, the same bits on every set of inputs,
// and an error where there was one. Where it did others too, the same bits after its exact ones
// alone, and values within a bound (Sameness::kBound, or kRounded if the graph computes in types of
// 16 bits by now) on ordinary inputs after all. Of a pass from outside, which says nothing of its
// rewrites, values within the bound, and an error where there was one, on every set. Answers that
// differ between two runs of one graph are left out. The body of a function is run where it is
// called: what no inputs reach there is not compared.
class NumericVerifier : public PipelineObserver {
 public:
  // `custom`: passes besides those of the pass order.
  explicit NumericVerifier(GraphRunner runner, absl::Span<const PassEntry> custom = {});

  // From now on variables, tables and queues have what `holder` holds when a pass has run. `holder`
  // outlives the verifier; nothing in it changes.
  void TakeStateOf(Session* holder) { runner_.TakeStateOf(holder); }

  // Passes that end after so many seconds of comparing, all together, are not compared. What is
  // being compared by then is compared on fewer inputs, one at least.
  void set_time_limit(double seconds) { limit_s_ = seconds; }

  // Values that the graph is really fed with, besides those that are made up: for passes on a graph
  // that is fed at the same nodes.
  void AddInputs(std::vector<Session::NamedTensor> feeds);

  void BeforePass(const PassRun& run) override;
  void OnRewrite(const RewriteEvent& event) override;
  // INTERNAL names rewrite, node, difference and inputs.
  absl::Status CheckPass(const PassRun& run, const Graph& after, const ReplayPass& replay) override;

  int64_t changes() const { return changes_; }  // of the graph, each by a pass
  int64_t passes_compared() const { return passes_; }
  int64_t runs() const { return runs_; }
  // Passes that changed something and were not compared, or not on all inputs, for want of time.
  int64_t passes_cut_short() const { return cut_short_; }
  // Why some pass, or some output, could not be compared; empty if each was.
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

  absl::Status Check(const PassRun& run, const Graph& after, const ReplayPass& replay);
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
  absl::Status Blame(const PassRun& run, const Graph& after, const ReplayPass& replay,
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
