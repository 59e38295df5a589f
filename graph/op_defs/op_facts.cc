// A plug-in states facts about its op by the default of an attribute, since the C ABI for ops has
// no other place for them.

#include "graph/op_defs/op_facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {

const OpFacts kNoFacts;

namespace {

absl::Status BadFacts(const OpDef& op, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("op '", op.name, "' states by '", kFactsAttr, "' ", what));
}

absl::Status StateElementwise(const OpDef& op, OpFacts& facts) {
  const auto is_one = [](const ArgDef& arg) {
    return arg.number_attr.empty() && arg.type_list_attr.empty() && !arg.is_ref;
  };
  const size_t arity = op.inputs.size();
  // Passes index inputs by the arity, so a false statement must not get through.
  if (op.outputs.size() != 1 || arity < 1 || arity > 2 || !std::ranges::all_of(op.inputs, is_one) ||
      !is_one(op.outputs[0]))
    return BadFacts(op, "'elementwise', which needs one output and one or two inputs");
  facts.cwise_arity = static_cast<uint8_t>(arity);
  facts.dims = arity == 1 ? DimRule::kLikeFirst : DimRule::kBroadcasting;
  return absl::OkStatus();
}

absl::Status TakeWord(const OpDef& op, std::string_view word, OpFacts& facts) {
  if (word == "elementwise") return StateElementwise(op, facts);
  if (word == "never_fails") {
    facts.safe = Safe::kAlways;
  } else if (word == "like_first") {
    facts.dims = DimRule::kLikeFirst;
  } else if (word == "metadata") {
    facts.metadata = true;
  } else if (word == "moves_data") {
    facts.cost.rule = CostRule::kMove;
  } else if (word == "bfloat16:allow") {
    facts.precision = Precision::kAllow;
  } else if (word == "bfloat16:infer") {
    facts.precision = Precision::kInfer;
  } else if (word == "bfloat16:deny") {
    facts.precision = Precision::kDeny;
  } else if (word == "bfloat16:clear") {
    facts.precision = Precision::kClear;
  } else {
    return BadFacts(op, absl::StrCat("'", word, "', which no op can state"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpFacts> StatedFacts(const OpDef& op) {
  OpFacts facts;
  const AttrDef* attr = op.FindAttr(kFactsAttr);
  if (attr == nullptr) return facts;
  const absl::StatusOr<std::vector<std::string_view>> words =
      AttrValue(attr->default_wire).AsStringList();
  if (attr->kind != AttrKind::kString || !attr->is_list || !attr->has_default || !words.ok())
    return BadFacts(op, "no list(string) with a default");
  for (const std::string_view word : *words) TENON_RETURN_IF_ERROR(TakeWord(op, word, facts));
  return facts;
}

}  // namespace tenon
