// _UnaryOpsComposition: elementwise ops one after the other, as TensorFlow's optimizer joins them.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "graph/attr_set.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/sub_kernels.h"

namespace tenon::cpu {
namespace {

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
      return p.Unimplemented(absl::StrCat("'op_names' names '", op, "', which cannot be composed"));
    TENON_ASSIGN_OR_RETURN(x, parts.Call(op, {{"T", attr::Type(type)}}, type, {x}));
  }
  parts.Finish(x);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CompositionKernels() {
  static const CpuKernelSpec specs[] = {
      {"_UnaryOpsComposition", {}, PrepareComposition},
  };
  return specs;
}

}  // namespace tenon::cpu
