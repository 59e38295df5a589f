#include "executor/proof/numeric_verifier.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "grappler_lite/fingerprint.h"

namespace tenon {

NumericVerifier::NumericVerifier(GraphRunner runner, absl::Span<const PassEntry> custom)
    : runner_(std::move(runner)) {
  for (absl::Span<const PassEntry> passes : {PassOrder(), custom}) {
    for (const PassEntry& pass : passes) {
      for (const RewriteInfo& rewrite : pass.make()->rewrites())
        exactness_[absl::StrCat(pass.name, ".", rewrite.name)] = rewrite.exactness;
    }
  }
}

void NumericVerifier::BeforePass(const PassRun&) { done_ = exact_ = 0; }

void NumericVerifier::OnRewrite(const RewriteEvent& event) {
  if (!event.allowed) return;
  ++done_;
  if (ExactnessOf(event) == Exactness::kExact) ++exact_;
}

Answer NumericVerifier::Run(const Graph& graph, size_t set, absl::Span<const std::string> fetches) {
  ++runs_;
  return runner_.Run(graph, sets_[set].feeds, {fetches.begin(), fetches.end()});
}

std::vector<Answer> NumericVerifier::RunAll(const Graph& graph,
                                            absl::Span<const std::string> fetches) {
  std::vector<Answer> answers;
  for (size_t set = 0; set < sets_.size(); ++set) answers.push_back(Run(graph, set, fetches));
  return answers;
}

// Inputs for this graph, and what it answers to them. False, with the reason kept, if that cannot
// be had.
bool NumericVerifier::Prepare(const PassRun& run) {
  const uint64_t print = Fingerprint(run.before);
  if (!baseline_.empty() && baseline_of_ == print &&
      std::equal(fetches_.begin(), fetches_.end(), run.fetches.begin(), run.fetches.end()))
    return true;
  feeds_.assign(run.feeds.begin(), run.feeds.end());
  fetches_.assign(run.fetches.begin(), run.fetches.end());
  baseline_.clear();
  std::vector<Answer> answers;
  auto good = answers.end();
  for (int64_t size : kUsualSizes) {
    absl::StatusOr<std::vector<InputSet>> sets = MakeInputSets(run.before, feeds_, size);
    if (!sets.ok()) {
      not_compared_ = sets.status().message();
      return false;
    }
    sets_ = *std::move(sets);
    answers = RunAll(run.before, fetches_);
    good = std::find_if(answers.begin(), answers.end(), [](const Answer& a) { return a.ok(); });
    if (good != answers.end()) break;
  }
  if (good == answers.end()) {
    not_compared_ = answers.empty() ? "there are no inputs" : answers[0].status().message();
    return false;
  }
  const Answer again = Run(run.before, static_cast<size_t>(good - answers.begin()), fetches_);
  steady_.assign(fetches_.size(), false);
  for (size_t i = 0; again.ok() && i < fetches_.size(); ++i)
    steady_[i] = !FindDifference((**good)[i], (*again)[i], Sameness::kBits);
  baseline_ = std::move(answers);
  baseline_of_ = print;
  return true;
}

std::optional<std::string> NumericVerifier::CompareOne(const Answer& was, const Answer& is,
                                                       Sameness sameness) const {
  return CompareAnswers(was, is, fetches_, [&](size_t i) -> std::optional<std::string> {
    const auto difference =
        steady_[i] ? FindDifference((*was)[i], (*is)[i], sameness) : std::nullopt;
    return difference ? std::optional(difference->what) : std::nullopt;
  });
}

std::optional<NumericVerifier::Mismatch> NumericVerifier::Compare(
    const std::vector<Answer>& answers, Sameness sameness) const {
  for (size_t set = 0; set < sets_.size(); ++set) {
    if (sameness == Sameness::kBound && !sets_[set].ordinary) continue;
    if (auto what = CompareOne(baseline_[set], answers[set], sameness))
      return Mismatch{set, *std::move(what)};
  }
  return std::nullopt;
}

// The node that, among those that both graphs have, is the first to give something else.
std::string NumericVerifier::FirstDifferentNode(const Graph& before, const Graph& after, size_t set,
                                                Sameness sameness) {
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(after);
  if (!order.ok()) return "";
  std::vector<std::string> names;
  for (NodeId n : *order) {
    if (IsControlFlowOp(after.op_name(n))) return "";  // values may be dead, and cannot be fetched
    const NodeId was = before.FindNode(after.name(n));
    if (was == kNoNode || std::binary_search(feeds_.begin(), feeds_.end(), after.name(n))) continue;
    for (int i = 0; i < std::min(after.num_outputs(n), before.num_outputs(was)); ++i) {
      const DataType type = after.output_type({n, i});
      const bool has_value = IsMemcpyable(type) || type == DataType::kString;
      if (has_value && type == before.output_type({was, i}))
        names.push_back(after.OutputName({n, i}));
    }
  }
  const Answer was = Run(before, set, names), is = Run(after, set, names);
  for (size_t i = 0; was.ok() && is.ok() && i < names.size(); ++i) {
    if (FindDifference((*was)[i], (*is)[i], sameness)) return names[i];
  }
  return "";
}

Exactness NumericVerifier::ExactnessOf(const RewriteEvent& event) const {
  const auto known = exactness_.find(absl::StrCat(event.pass, ".", event.rewrite));
  return known == exactness_.end() ? Exactness::kToleranced : known->second;
}

// The pass stopped after so many rewrites; with kBits, of those that are to keep every bit.
absl::StatusOr<NumericVerifier::Partial> NumericVerifier::FirstOnes(const ReplayPass& replay,
                                                                    Sameness sameness,
                                                                    int64_t count) const {
  Partial partial;
  TENON_ASSIGN_OR_RETURN(
      partial.graph, replay([&](int64_t, const RewriteEvent& event) {
        if (sameness == Sameness::kBits && ExactnessOf(event) != Exactness::kExact) return false;
        if (partial.rewrites >= count) return false;
        ++partial.rewrites;
        partial.last = absl::StrCat("rewrite ", event.pass, ".", event.rewrite);
        if (!event.node.empty()) absl::StrAppend(&partial.last, " at node '", event.node, "'");
        return true;
      }));
  return partial;
}

// The pass is wrong on one set of inputs: which rewrite, at which node, changed what.
absl::Status NumericVerifier::Blame(const PassRun& run, const Graph& after,
                                    const ReplayPass& replay, Sameness sameness,
                                    const Mismatch& mismatch) {
  Partial right{run.before, 0, ""}, wrong{after, 0, absl::StrCat("pass ", run.pass)};
  if (replay && done_ > 0) {
    TENON_ASSIGN_OR_RETURN(wrong, FirstOnes(replay, sameness, done_));
    while (wrong.rewrites - right.rewrites > 1) {
      const int64_t middle = right.rewrites + (wrong.rewrites - right.rewrites) / 2;
      TENON_ASSIGN_OR_RETURN(Partial partial, FirstOnes(replay, sameness, middle));
      const Answer answer = Run(partial.graph, mismatch.set, fetches_);
      const bool is_wrong = CompareOne(baseline_[mismatch.set], answer, sameness).has_value();
      (is_wrong ? wrong : right) = std::move(partial);
    }
  }
  const std::string node = FirstDifferentNode(right.graph, wrong.graph, mismatch.set, sameness);
  return absl::InternalError(absl::StrCat(
      wrong.last, " changed what the graph answers to inputs '", sets_[mismatch.set].name,
      "': ", mismatch.what,
      node.empty() ? "" : absl::StrCat("; the first value that differs is that of '", node, "'"),
      sameness == Sameness::kBits
          ? "; it is declared to keep every bit"
          : absl::StrCat("; more than ", kMaxSteps, " float steps at the largest value (",
                         kMaxStepsSmall, " for small types)")));
}

// A body is run where it is called, with what it is given there.
absl::Status NumericVerifier::CheckPass(const PassRun& run, const Graph& after,
                                        const ReplayPass& replay) {
  if (run.caller == nullptr) return Check(run, after, replay);
  const CallingGraph& caller = *run.caller;
  const Graph before = caller.with(run.before);
  ReplayPass replay_there;
  if (replay) {
    replay_there = [&](const AllowRewrite& allow) -> absl::StatusOr<Graph> {
      TENON_ASSIGN_OR_RETURN(const Graph body, replay(allow));
      return caller.with(body);
    };
  }
  return Check({run.pass, run.iteration, before, caller.fetches, caller.feeds, run.function},
               caller.with(after), replay_there);
}

absl::Status NumericVerifier::Check(const PassRun& run, const Graph& after,
                                    const ReplayPass& replay) {
  if (!Prepare(run)) return absl::OkStatus();
  ++passes_;
  if (done_ > 0 && exact_ > 0 && exact_ < done_ && replay) {
    TENON_ASSIGN_OR_RETURN(const Partial exact, FirstOnes(replay, Sameness::kBits, done_));
    const auto mismatch = Compare(RunAll(exact.graph, fetches_), Sameness::kBits);
    if (mismatch) return Blame(run, exact.graph, replay, Sameness::kBits, *mismatch);
  }
  const Sameness sameness = exact_ < done_ ? Sameness::kBound : Sameness::kBits;
  std::vector<Answer> answers = RunAll(after, fetches_);
  if (const auto mismatch = Compare(answers, sameness))
    return Blame(run, after, replay, sameness, *mismatch);
  baseline_ = std::move(answers);
  baseline_of_ = Fingerprint(after);
  return absl::OkStatus();
}

}  // namespace tenon
