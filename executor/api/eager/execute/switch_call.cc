#include "executor/api/eager/execute/switch_call.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "executor/api/eager/execute/input_memory.h"
#include "graph/base/status_macros.h"

namespace tenon::eager {
namespace {

// The output that the value chooses: of two by a bool; else by a number, and the last one if there
// is no output of that number.
absl::StatusOr<size_t> Chosen(const Tensor& choice, size_t outputs) {
  if (choice.shape().rank() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "The second input must be a scalar, but it has shape ", choice.shape().ToString()));
  }
  if (choice.dtype() == DataType::kBool) return *static_cast<const bool*>(choice.data()) ? 1 : 0;
  const int32_t number = *static_cast<const int32_t*>(choice.data());
  return number < 0 || static_cast<size_t>(number) >= outputs ? outputs - 1 : number;
}

}  // namespace

std::shared_ptr<Callable> SwitchCall::Make(const CallNode& node) {
  return std::shared_ptr<Callable>(new SwitchCall(node));
}

absl::Status SwitchCall::Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) {
  const auto bring = [&](size_t i) {
    return BringInput(*inputs[i], {op_, i, nullptr, nullptr}, call.policy);
  };
  TENON_ASSIGN_OR_RETURN(const Tensor choice, bring(1));
  TENON_ASSIGN_OR_RETURN(const size_t chosen, Chosen(choice, outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(
        outputs[i], i == chosen ? bring(0) : Tensor::Allocate(output_types()[i], Shape({0})));
  }
  return absl::OkStatus();
}

}  // namespace tenon::eager
