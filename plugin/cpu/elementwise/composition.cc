// Elementwise ops of one operand, one after the other, as TensorFlow's optimizer joins them:
// _UnaryOpsComposition, and the activations that are x times a function of x.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/attr_set.h"
#include "plugin/cpu/arrays/sub_kernels.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The ops that TensorFlow's arithmetic optimizer may join.
constexpr std::array<std::string_view, 32> kComposable = {
    "Abs",   "Acos",    "Acosh",      "Asin", "Asinh", "Atan",   "Atanh", "Ceil",
    "Cos",   "Cosh",    "Elu",        "Exp",  "Expm1", "Floor",  "Inv",   "Log",
    "Log1p", "Neg",     "Reciprocal", "Relu", "Relu6", "Rint",   "Round", "Rsqrt",
    "Selu",  "Sigmoid", "Sin",        "Sinh", "Sqrt",  "Square", "Tan",   "Tanh"};

absl::Status PrepareComposition(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto ops, p.AttrStringList("op_names"));
  const DataType type = p.input_type(0);
  if (ops.empty()) return p.Invalid("'op_names' must name an op");
  p.set_output_shape(0, p.input_shape(0));
  SubKernels parts(p);
  SubTensor x = parts.Input(0);
  for (const std::string_view op : ops) {
    if (std::find(kComposable.begin(), kComposable.end(), op) == kComposable.end())
      return p.Invalid(absl::StrCat("'op_names' names '", op, "', which cannot be composed"));
    TENON_ASSIGN_OR_RETURN(x, parts.Call(op, {{"T", attr::Type(type)}}, type, {x}));
  }
  parts.Finish({x});
  return absl::OkStatus();
}

// x times what `gate`, one op after the other, makes of x.
absl::Status PrepareGated(Prepare& p, std::initializer_list<std::string_view> gate) {
  const DataType type = p.input_type(0);
  const std::vector<std::pair<std::string, std::string>> attrs = {{"T", attr::Type(type)}};
  p.set_output_shape(0, p.input_shape(0));
  SubKernels parts(p);
  const SubTensor x = parts.Input(0);
  SubTensor y = x;
  for (const std::string_view op : gate) {
    TENON_ASSIGN_OR_RETURN(y, parts.Call(op, attrs, type, {y}));
  }
  TENON_ASSIGN_OR_RETURN(y, parts.Call("Mul", attrs, type, {x, y}));
  parts.Finish({y});
  return absl::OkStatus();
}

absl::Status PrepareSwish(Prepare& p) { return PrepareGated(p, {"Sigmoid"}); }
absl::Status PrepareMish(Prepare& p) { return PrepareGated(p, {"Softplus", "Tanh"}); }

}  // namespace

absl::Span<const CpuKernelSpec> CompositionKernels() {
  constexpr uint64_t kTypes = kHalfTypes | TypeBit(DataType::kFloat);
  static const CpuKernelSpec specs[] = {
      {"_MklFusedMish", {{"T", kTypes}}, PrepareMish},
      {"_MklSwish", {{"T", kTypes}}, PrepareSwish},
      {"_UnaryOpsComposition", {{"T", kEveryType}}, PrepareComposition},
  };
  return specs;
}

}  // namespace tenon::cpu
