// The graph runs on each set of inputs after each pass, and the answers serve as those before the
// next pass. A pass that changed an answer is replayed with fewer rewrites until one rewrite is
// left.

#include "executor/proof/numeric_verifier.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/pipeline/fingerprint.h"

namespace tenon {
namespace {

bool IsFinite(const Tensor& value) {
  if (!cli::IsFloatLike(value.dtype()) && !IsComplex(value.dtype())) return true;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const std::complex<double> element = cli::ElementAsComplex(value, i);
    if (!std::isfinite(element.real()) || !std::isfinite(element.imag())) return false;
  }
  return true;
}

// In order of name, once each.
std::vector<std::string> NodesOf(const std::vector<Session::NamedTensor>& feeds) {
  std::vector<std::string> nodes;
  nodes.reserve(feeds.size());
  for (const auto& [name, value] : feeds) nodes.push_back(name.substr(0, name.find(':')));
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Whether floats of 16 bits are computed: what comes of them may be a float, but no better one.
bool Rounds(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    for (int i = 0; graph.alive(n) && i < graph.num_outputs(n); ++i) {
      const DataType type = graph.output_type({n, i});
      if (type == DataType::kBfloat16 || type == DataType::kHalf) return true;
    }
  }
  return false;
}

// Whether some output has a value that can be compared: handles have none, and nodes that run for
// what they do.
bool HasComparable(const Graph& graph, absl::Span<const std::string> fetches) {
  return std::ranges::any_of(fetches, [&](const std::string& fetch) {
    const absl::StatusOr<Output> output = graph.ParseOutput(fetch);
    if (!output.ok() || output->is_control() || graph.num_outputs(output->node) == 0) return false;
    return BaseType(graph.output_type(*output)) != DataType::kResource;
  });
}

std::string Demand(Sameness sameness) {
  switch (sameness) {
    case Sameness::kBits:
      return "; it is declared to keep every bit";
    case Sameness::kBound:
      return absl::StrCat("; more than ", kMaxSteps, " ulps at the largest value (", kMaxStepsSmall,
                          " for small types)");
    case Sameness::kRounded:
      return absl::StrCat("; more than ", kMaxStepsSmall,
                          " steps of bfloat16 at the largest value");
  }
  return "";
}

}  // namespace

NumericVerifier::NumericVerifier(GraphRunner runner, absl::Span<const PassEntry> custom)
    : runner_(std::move(runner)) {
  for (absl::Span<const PassEntry> passes : {PassOrder(), custom}) {
    for (const PassEntry& pass : passes) {
      for (const RewriteInfo& rewrite : pass.make()->rewrites()) {
        exactness_[absl::StrCat(pass.name, ".", rewrite.name)] = rewrite.exactness;
        classed_.insert(std::string(pass.name));
      }
    }
  }
}

void NumericVerifier::BeforePass(const PassRun&) { done_ = exact_ = 0; }

// Once some pass has chosen low precision, later passes compute on rounded values too: `rounded_`
// is never taken back.
void NumericVerifier::OnRewrite(const RewriteEvent& event) {
  if (!event.allowed) return;
  ++done_;
  if (ExactnessOf(event) == Exactness::kExact) ++exact_;
  rounded_ |= ExactnessOf(event) == Exactness::kLowPrecision;
}

void NumericVerifier::AddInputs(std::vector<Session::NamedTensor> feeds) {
  given_ = InputSet{"given", true, std::move(feeds)};
  for (const auto& [name, value] : given_->feeds) given_->ordinary &= IsFinite(value);
}

Answer NumericVerifier::Run(const Graph& graph, size_t set, absl::Span<const std::string> fetches) {
  ++runs_;
  return runner_.RunApart(graph, sets_[set], fetches);
}

std::vector<Answer> NumericVerifier::RunAll(const Graph& graph,
                                            absl::Span<const std::string> fetches) {
  std::vector<Answer> answers;
  for (size_t set = 0; set < sets_.size(); ++set) {
    // The first set runs in any case: a comparison that has begun needs one answer.
    if (set > 0 && IsLate()) {
      cut_ = true;
      break;
    }
    answers.push_back(Run(graph, set, fetches));
  }
  return answers;
}

bool NumericVerifier::IsLate() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  return spent_s_ + elapsed.count() >= limit_s_;
}

// What is given, if it is for this graph, and what can be made up.
bool NumericVerifier::MakeSets(const Graph& graph, int64_t usual_size) {
  sets_.clear();
  if (given_ && NodesOf(given_->feeds) == feeds_) sets_.push_back(*given_);
  absl::StatusOr<std::vector<InputSet>> made = MakeInputSets(graph, feeds_, usual_size);
  if (made.ok()) {
    std::move(made->begin(), made->end(), std::back_inserter(sets_));
  } else if (sets_.empty()) {
    not_compared_ = made.status().message();
  }
  return !sets_.empty();
}

// Runs the graph once more on inputs for which an output has a value. An output whose bits are not
// the same twice (of time, of an unseeded random op of a plug-in) tells nothing of a pass.
void NumericVerifier::FindSteady(const Graph& graph, const std::vector<Answer>& answers) {
  steady_.assign(fetches_.size(), false);
  std::vector<bool> asked(fetches_.size(), false);
  for (size_t set = 0; set < answers.size(); ++set) {
    std::optional<Answer> again;
    for (size_t i = 0; i < fetches_.size(); ++i) {
      if (asked[i] || !answers[set][i].ok()) continue;
      if (!again) again = Run(graph, set, fetches_);
      asked[i] = true;
      steady_[i] =
          (*again)[i].ok() && !FindDifference(*answers[set][i], *(*again)[i], Sameness::kBits);
    }
  }
  for (size_t i = 0; i < fetches_.size() && not_compared_.empty(); ++i) {
    if (!asked[i]) {
      not_compared_ = absl::StrCat("output ", fetches_[i], ": ", answers[0][i].status().message());
    }
  }
}

// Inputs for this graph, and what it answers to them. False, with the reason kept, if that cannot
// be had.
bool NumericVerifier::Prepare(const PassRun& run) {
  // The answers after one pass are those before the next, unless the graph was changed in between:
  // a pass that is right costs one run a set and not two.
  const uint64_t print = Fingerprint(run.before);
  if (!baseline_.empty() && baseline_of_ == print &&
      std::equal(feeds_.begin(), feeds_.end(), run.feeds.begin(), run.feeds.end()) &&
      std::equal(fetches_.begin(), fetches_.end(), run.fetches.begin(), run.fetches.end()))
    return true;
  feeds_.assign(run.feeds.begin(), run.feeds.end());
  fetches_.assign(run.fetches.begin(), run.fetches.end());
  baseline_.clear();
  std::vector<Answer> answers;
  for (int64_t size : kUsualSizes) {
    if (!MakeSets(run.before, size)) return false;
    answers = RunAll(run.before, fetches_);
    if (std::any_of(answers.begin(), answers.end(), HasValue)) break;
  }
  FindSteady(run.before, answers);
  if (std::none_of(answers.begin(), answers.end(), HasValue)) return false;
  baseline_ = std::move(answers);
  baseline_of_ = print;
  return true;
}

std::optional<AnswerDifference> NumericVerifier::CompareOne(const Answer& was, const Answer& is,
                                                            Sameness sameness) const {
  return CompareAnswers(was, is, fetches_, [&](size_t i) -> std::optional<std::string> {
    return steady_[i] ? FindDifference(*was[i], *is[i], sameness) : std::nullopt;
  });
}

std::optional<NumericVerifier::Mismatch> NumericVerifier::Compare(
    const std::vector<Answer>& answers, Sameness sameness, bool corners) const {
  for (size_t set = 0; set < std::min(answers.size(), baseline_.size()); ++set) {
    if (!corners && !sets_[set].ordinary) continue;
    if (auto difference = CompareOne(baseline_[set], answers[set], sameness))
      return Mismatch{set, *std::move(difference)};
  }
  return std::nullopt;
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
absl::Status NumericVerifier::FindWrongRewrite(const PassRun& run, const Graph& after,
                                               const ReplayPass& replay, Sameness sameness,
                                               const Mismatch& mismatch) {
  Partial right{run.before, 0, ""}, wrong{after, 0, "it"};
  if (replay && done_ > 0) {
    TENON_ASSIGN_OR_RETURN(Partial all, FirstOnes(replay, sameness, done_));
    if (all.rewrites > 0) wrong = std::move(all);
    // By halves: the graph before is right, all rewrites are wrong, so some neighbours differ.
    while (wrong.rewrites - right.rewrites > 1 && !IsLate()) {
      const int64_t middle = right.rewrites + (wrong.rewrites - right.rewrites) / 2;
      TENON_ASSIGN_OR_RETURN(Partial partial, FirstOnes(replay, sameness, middle));
      const Answer answer = Run(partial.graph, mismatch.set, fetches_);
      const bool is_wrong = CompareOne(baseline_[mismatch.set], answer, sameness).has_value();
      (is_wrong ? wrong : right) = std::move(partial);
    }
  }
  const int64_t others = wrong.rewrites - right.rewrites - 1;
  if (others > 0) absl::StrAppend(&wrong.last, ", or one of the ", others, " before it,");
  const std::string node =
      runner_.FirstDifference(right.graph, wrong.graph, sets_[mismatch.set], sameness);
  const std::string demand = mismatch.difference.of_values ? Demand(sameness) : "";
  return absl::InternalError(absl::StrCat(
      wrong.last, " changed what the graph answers to inputs '", sets_[mismatch.set].name,
      "': ", mismatch.difference.what,
      node.empty() ? "" : absl::StrCat("; the first value that differs is that of '", node, "'"),
      demand));
}

absl::Status NumericVerifier::CheckPass(const PassRun& run, const Graph& after,
                                        const ReplayPass& replay) {
  // A graph without values to compare (an initializer) would only cost time.
  const bool in_body = run.caller != nullptr;
  if (!in_body && !HasComparable(run.before, run.fetches)) return absl::OkStatus();
  begin_ = std::chrono::steady_clock::now();
  ++changes_;
  if (IsLate()) {
    ++cut_short_;
    return absl::OkStatus();
  }
  cut_ = false;
  absl::Status status = CheckWhole(run, after, replay);
  spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (cut_) ++cut_short_;
  return status;
}

// A body is run where it is called, with what it is given there.
absl::Status NumericVerifier::CheckWhole(const PassRun& run, const Graph& after,
                                         const ReplayPass& replay) {
  const bool rounds = Rounds(run.before) || Rounds(after);
  if (run.caller == nullptr) return Check(run, after, replay, rounds);
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
               caller.with(after), replay_there, rounds || Rounds(before));
}

absl::Status NumericVerifier::Check(const PassRun& run, const Graph& after,
                                    const ReplayPass& replay, bool rounds) {
  if (!Prepare(run)) return absl::OkStatus();
  ++passes_;
  // Among toleranced rewrites an exact one that is slightly wrong would hide within their bound.
  if (done_ > 0 && exact_ > 0 && exact_ < done_ && replay) {
    TENON_ASSIGN_OR_RETURN(const Partial exact, FirstOnes(replay, Sameness::kBits, done_));
    const auto mismatch = Compare(RunAll(exact.graph, fetches_), Sameness::kBits, true);
    if (mismatch) return FindWrongRewrite(run, exact.graph, replay, Sameness::kBits, *mismatch);
  }
  const Sameness bound = rounded_ || rounds ? Sameness::kRounded : Sameness::kBound;
  const Sameness sameness = exact_ < done_ ? bound : Sameness::kBits;
  std::vector<Answer> answers = RunAll(after, fetches_);
  // A toleranced rewrite may turn infinities into NaN (x * y / y), so corners bind exact ones only.
  const bool corners = sameness == Sameness::kBits || !classed_.contains(run.pass);
  if (const auto mismatch = Compare(answers, sameness, corners))
    return FindWrongRewrite(run, after, replay, sameness, *mismatch);
  baseline_ = std::move(answers);
  baseline_of_ = Fingerprint(after);
  return absl::OkStatus();
}

}  // namespace tenon
