// The lists stand in the facts of ops. TensorFlow's environment variables add ops to a list and
// remove ops from it: TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD=Op1,Op2 and so on.

#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

constexpr std::string_view kVariable = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_";

absl::flat_hash_set<std::string> FromEnvironment(std::string_view list, std::string_view what) {
  const std::string variable = absl::StrCat(kVariable, list, "_", what);
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr) return {};
  return absl::StrSplit(value, ',', absl::SkipEmpty());
}

}  // namespace

absl::StatusOr<PrecisionLists> PrecisionLists::Make() {
  PrecisionLists lists;
  for (const Change& change : lists.changes_) {
    for (const std::string& op : change.added) {
      const OpFacts& facts = OpRegistry::Global().Facts(op);
      const auto count = std::ranges::count_if(
          lists.changes_, [&](const Change& other) { return IsOn(other, op, facts); });
      if (count < 2) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          op, " is on two of the lists of mixed precision; remove it from one: ", kVariable,
          "(ALLOW|INFER|DENY|CLEAR)LIST_REMOVE=", op));
    }
  }
  return lists;
}

PrecisionLists::PrecisionLists() {
  constexpr std::pair<Precision, std::string_view> kLists[] = {{Precision::kAllow, "ALLOWLIST"},
                                                               {Precision::kDeny, "DENYLIST"},
                                                               {Precision::kInfer, "INFERLIST"},
                                                               {Precision::kClear, "CLEARLIST"}};
  for (size_t i = 0; i < changes_.size(); ++i) {
    const auto [precision, name] = kLists[i];
    changes_[i] = {precision, FromEnvironment(name, "ADD"), FromEnvironment(name, "REMOVE")};
    unchanged_ &= changes_[i].added.empty() && changes_[i].removed.empty();
  }
}

// What is both added and removed is removed.
bool PrecisionLists::IsOn(const Change& change, std::string_view op, const OpFacts& facts) {
  return (facts.precision == change.list || change.added.contains(op)) &&
         !change.removed.contains(op);
}

Precision PrecisionLists::Of(std::string_view op, const OpFacts& facts) const {
  // Without the variables no text is compared.
  if (unchanged_) return facts.precision;
  const auto on =
      std::ranges::find_if(changes_, [&](const Change& change) { return IsOn(change, op, facts); });
  return on == changes_.end() ? Precision::kNone : on->list;
}

}  // namespace tenon
