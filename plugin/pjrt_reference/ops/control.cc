// Ops that run regions and functions.
#include <algorithm>

#include "checks.h"
#include "families.h"

namespace pjref {
namespace {

void CheckWhile(const Op& op) {
  CheckCounts(op, op.operands.size(), op.operands.size(), 2);
  CheckRegion(op, 0, op.operand_types, {{Element::kI1, {}}});
  CheckRegion(op, 1, op.operand_types, op.operand_types);
  for (size_t i = 0; i < op.operands.size(); ++i) CheckResult(op, i, op.operand_types[i]);
}

void While(Frame* frame, const Op& op) {
  std::vector<Array> values;
  for (size_t i = 0; i < op.operands.size(); ++i) values.push_back(frame->In(op, i));
  while (*frame->Run(op.regions[0], values)[0].data()) {
    if (frame->options().before_op) frame->options().before_op();
    values = frame->Run(op.regions[1], std::move(values));
  }
  for (size_t i = 0; i < values.size(); ++i) frame->Out(op, i, std::move(values[i]));
}

void CheckBranches(const Op& op, size_t branches) {
  CheckCounts(op, 1, op.result_types.size(), branches);
  CheckScalar(op, op.operand_types[0]);
  for (size_t i = 0; i < branches; ++i) CheckRegion(op, i, {}, op.result_types);
}

void RunBranch(Frame* frame, const Op& op, size_t branch) {
  std::vector<Array> values = frame->Run(op.regions[branch], {});
  for (size_t i = 0; i < values.size(); ++i) frame->Out(op, i, std::move(values[i]));
}

void CheckIf(const Op& op) {
  CheckBranches(op, 2);
  CheckKind(op, op.operand_types[0], kBool);
}
void If(Frame* frame, const Op& op) { RunBranch(frame, op, *frame->In(op, 0).data() ? 0 : 1); }

void CheckCase(const Op& op) {
  CheckThat(op, !op.regions.empty(), "expects at least one branch");
  CheckBranches(op, op.regions.size());
  CheckThat(op, op.operand_types[0].element == Element::kI32, "takes an index of i32");
}
// An index that is out of range takes the last branch.
void Case(Frame* frame, const Op& op) {
  const auto last = static_cast<int64_t>(op.regions.size()) - 1;
  const int64_t index = *frame->In(op, 0).data<int32_t>();
  RunBranch(frame, op, static_cast<size_t>(index < 0 || index > last ? last : index));
}

// The checker has found the function, and that its types are these.
void CheckCall(const Op& op) { CheckCounts(op, op.operands.size(), op.result_types.size()); }
void Call(Frame* frame, const Op& op) {
  std::vector<Array> values;
  for (size_t i = 0; i < op.operands.size(); ++i) values.push_back(frame->In(op, i));
  values = frame->Call(*op.callee, std::move(values));
  for (size_t i = 0; i < values.size(); ++i) frame->Out(op, i, std::move(values[i]));
}

void CheckReturn(const Op& op) { CheckCounts(op, op.operands.size(), 0); }
void Nothing(Frame*, const Op&) {}

void CheckSame(const Op& op) {
  CheckCounts(op, op.operands.size(), op.operands.size());
  for (size_t i = 0; i < op.operands.size(); ++i) CheckResult(op, i, op.operand_types[i]);
}
void Same(Frame* frame, const Op& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) frame->Out(op, i, frame->In(op, i));
}

// Annotations of how programs are spread over devices mean nothing on one.
void CheckCustomCall(const Op& op) {
  const std::string target = op.Word("call_target_name");
  const bool is_mark = target == "Sharding" || target == "SPMDFullToShardShape" ||
                       target == "SPMDShardToFullShape" || target == "annotate_device_placement";
  if (!is_mark) op.NotBuilt("calls '" + target + "', which is not known here");
  CheckSame(op);
}

void CheckToken(const Op& op) {
  CheckCounts(op, op.operands.size(), 1);
  for (const Type& type : op.operand_types)
    CheckThat(op, type.element == Element::kToken, "takes tokens");
  CheckResult(op, 0, {Element::kToken, {}});
}
void Token(Frame* frame, const Op& op) { frame->Out(op, Array({Element::kToken, {}})); }

// The number of this replica or partition: there is one.
void CheckNumber(const Op& op) {
  CheckCounts(op, 0, 1);
  CheckResult(op, 0, {Element::kU32, {}});
}
void Number(Frame* frame, const Op& op) {
  Array out(op.result_types[0]);
  *out.data<uint32_t>() = 0;
  frame->Out(op, std::move(out));
}

}  // namespace

const std::vector<OpRow>& ControlRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.while", &CheckWhile, &While, nullptr},
      {"stablehlo.if", &CheckIf, &If, nullptr},
      {"stablehlo.case", &CheckCase, &Case, nullptr},
      {"func.call", &CheckCall, &Call, nullptr},
      {"stablehlo.composite", &CheckCall, &Call, nullptr},
      {"stablehlo.return", &CheckReturn, &Nothing, nullptr},
      {"func.return", &CheckReturn, &Nothing, nullptr},
      {"stablehlo.optimization_barrier", &CheckSame, &Same, nullptr},
      {"stablehlo.custom_call", &CheckCustomCall, &Same, nullptr},
      {"stablehlo.after_all", &CheckToken, &Token, nullptr},
      {"stablehlo.create_token", &CheckToken, &Token, nullptr},
      {"stablehlo.partition_id", &CheckNumber, &Number, nullptr},
      {"stablehlo.replica_id", &CheckNumber, &Number, nullptr},
  };
  return kRows;
}

}  // namespace pjref
