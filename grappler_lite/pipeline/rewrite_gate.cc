// One counter for each limit. IsOn asks what the user switched off and the pass's budget; Decide
// asks the bisect limit, or the replay in its place. Only what passes the first is numbered and
// shown to observers, so that numbers of rewrites mean the same in every replay.

#include "grappler_lite/pipeline/rewrite_gate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

std::string RewriteKey(const RewriteEvent& event) {
  return absl::StrCat(event.pass, event.rewrite.empty() ? "" : ".", event.rewrite, "@", event.node,
                      event.function.empty() ? "" : "@", event.function);
}

RewriteGate::RewriteGate(const PipelineOptions& options, std::string_view function)
    : options_(options),
      function_(function),
      observers_(options.observers),
      beyond_limit_(options.beyond_limit.begin(), options.beyond_limit.end()),
      left_(options.bisect_limit),
      grown_(options.grown),
      grown_before_pass_(options.grown),
      worked_(options.worked),
      worked_before_pass_(options.worked) {}

void RewriteGate::BeginPass(std::string_view pass, PassBudget budget) {
  pass_ = pass;
  budget_ = budget;
  asked_ = done_ = 0;
  visits_left_ = budget.visits;
  refused_by_budget_ = false;
  grown_before_pass_ = grown_;
  worked_before_pass_ = worked_;
  other_budget_spent_.clear();
  counts_.clear();
}

RewriteGate RewriteGate::ForReplay(std::string_view pass, PassBudget budget,
                                   const AllowRewrite* allow) const {
  RewriteGate gate = *this;
  gate.observers_ = {};
  gate.replay_ = allow;
  // A replay meets the limits where the pass met them.
  gate.grown_ = grown_before_pass_;
  gate.worked_ = worked_before_pass_;
  gate.BeginPass(pass, budget);
  return gate;
}

bool RewriteGate::IsOn(std::string_view rewrite) {
  const std::vector<std::string>& off = options_.disabled_rewrites;
  if (!off.empty() &&
      std::find(off.begin(), off.end(), absl::StrCat(pass_, ".", rewrite)) != off.end())
    return false;
  if (done_ < budget_.rewrites) return true;
  refused_by_budget_ = true;
  return false;
}

bool RewriteGate::Decide(std::string_view rewrite, std::string_view node) {
  const int64_t number = asked_++;
  if (replay_ != nullptr) return (*replay_)(number, {pass_, rewrite, node, true, function_});
  // Beyond the bisect limit only the rewrites go on that the user has named one by one.
  if (left_ > 0) {
    --left_;
    return true;
  }
  return !beyond_limit_.empty() &&
         beyond_limit_.contains(RewriteKey({pass_, rewrite, node, true, function_}));
}

bool RewriteGate::Allow(const Graph& graph, std::string_view rewrite, NodeId n) {
  if (!IsOn(rewrite)) return false;
  const std::string_view node = n == kNoNode ? std::string_view() : graph.name(n);
  const bool allowed = Decide(rewrite, node);
  for (PipelineObserver* observer : observers_)
    observer->OnRewrite({pass_, rewrite, node, allowed, function_});
  if (!allowed) return false;
  ++done_;
  if (!rewrite.empty()) ++counts_[rewrite];
  return true;
}

std::vector<std::pair<std::string, int64_t>> RewriteGate::Counts() const {
  std::vector<std::pair<std::string, int64_t>> counts(counts_.begin(), counts_.end());
  std::sort(counts.begin(), counts.end());
  return counts;
}

std::string RewriteGate::BudgetSpent() const {
  const auto plural = [](int64_t count) { return count == 1 ? "" : "s"; };
  if (refused_by_budget_)
    return absl::StrCat(budget_.rewrites, " rewrite", plural(budget_.rewrites));
  if (visits_left_ < 0)
    return absl::StrCat(budget_.visits, " visit", plural(budget_.visits), " of nodes");
  return other_budget_spent_;
}

}  // namespace tenon
