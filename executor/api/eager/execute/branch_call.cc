#include "executor/api/eager/execute/branch_call.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/api/eager/call_node.h"
#include "executor/api/eager/execute/plan_call.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/wire.h"

namespace tenon::eager {
namespace {

template <typename T>
bool IsNotZero(const Tensor& scalar) {
  return *static_cast<const T*>(scalar.data()) != T{0};
}

// With the types of the op ToBool.
absl::StatusOr<bool> Truth(const Tensor& value) {
  if (value.shape().rank() != 0) return value.shape().num_elements() > 0;
  switch (value.dtype()) {
    case DataType::kBool:
      return IsNotZero<bool>(value);
    case DataType::kFloat:
      return IsNotZero<float>(value);
    case DataType::kDouble:
      return IsNotZero<double>(value);
    case DataType::kInt8:
    case DataType::kUint8:
      return IsNotZero<uint8_t>(value);
    case DataType::kInt16:
      return IsNotZero<int16_t>(value);
    case DataType::kInt32:
      return IsNotZero<int32_t>(value);
    case DataType::kInt64:
      return IsNotZero<int64_t>(value);
    case DataType::kString:
      return !value.StringAt(0).empty();
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(DataTypeName(value.dtype()), " cannot be converted to a bool"));
  }
}

absl::StatusOr<size_t> Taken(const Tensor& choice, bool binary, size_t branches) {
  if (binary) {
    TENON_ASSIGN_OR_RETURN(const bool yes, Truth(choice));
    return yes ? 1 : 0;
  }
  if (choice.dtype() != DataType::kInt32 || choice.shape().rank() != 0)
    return absl::InvalidArgumentError("branch_index must be a scalar of int32");
  const int32_t number = *static_cast<const int32_t*>(choice.data());
  return number < 0 || static_cast<size_t>(number) >= branches ? branches - 1 : number;
}

// What the attributes of an op are replaced by, so that it has one branch.
using Replaced = std::vector<std::pair<std::string_view, std::string>>;

absl::StatusOr<std::vector<Replaced>> BranchesOf(const TFE_Op& op, bool binary) {
  std::vector<Replaced> branches;
  if (binary) {
    for (const std::string_view name : {"else_branch", "then_branch"}) {
      const std::string wire = op.attrs.Get(name).value_or("");
      branches.push_back({{"else_branch", wire}, {"then_branch", wire}});
    }
    return branches;
  }
  const std::string wire = op.attrs.Get("branches").value_or("");
  TENON_ASSIGN_OR_RETURN(const std::vector<FuncAttr> functions, AttrValue(wire).AsFuncList());
  constexpr uint32_t kList = 1, kFuncOfList = 9;  // of AttrValue, of its ListValue
  for (const FuncAttr& function : functions) {
    std::string list, alone;
    // attrs_wire is the whole NameAttrList, the name included.
    WireWriter(&list).Bytes(kFuncOfList, function.attrs_wire);
    WireWriter(&alone).Bytes(kList, list);
    branches.push_back({{"branches", std::move(alone)}});
  }
  return branches;
}

absl::StatusOr<std::shared_ptr<Callable>> MakeBranch(Context& context, const TFE_Op& op,
                                                     const Replaced& replaced,
                                                     const std::string& device) {
  const OpDef& def = *op.entry->def;
  OpAttrs attrs;
  attrs.Reset(&def);
  for (const auto& [name, wire] : replaced) attrs.Set(name, wire);
  for (const auto& [name, wire] : op.attrs.All()) attrs.Set(name, wire);  // the first counts
  CallNode node(def, attrs);
  TENON_RETURN_IF_ERROR(node.Resolve());
  node.TakeOwnName();
  return PlanCall::Make(context, std::move(node), device);
}

}  // namespace

bool MayBeMisfit(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsInternal(status);
}

absl::StatusOr<std::shared_ptr<Callable>> BranchCall::Make(Context& context, const TFE_Op& op,
                                                           const TypeVector& types,
                                                           const std::string& device) {
  const bool binary = op.entry->def->facts->calls == CallKind::kIf;
  TENON_ASSIGN_OR_RETURN(const std::vector<Replaced> choices, BranchesOf(op, binary));
  std::vector<Branch> branches;
  for (const Replaced& choice : choices) {
    branches.push_back(MakeBranch(context, op, choice, device));
    const absl::Status& status = branches.back().status();
    if (!status.ok() && !MayBeMisfit(status)) return status;
  }
  return std::shared_ptr<Callable>(new BranchCall(types, binary, std::move(branches)));
}

absl::Status BranchCall::Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) {
  TENON_ASSIGN_OR_RETURN(const Tensor choice, ValueOnHost(*inputs[0]));
  TENON_ASSIGN_OR_RETURN(const size_t taken, Taken(choice, binary_, branches_.size()));
  const Branch& branch = branches_[taken];
  return branch.ok() ? (*branch)->Run(inputs, outputs, call) : branch.status();
}

}  // namespace tenon::eager
