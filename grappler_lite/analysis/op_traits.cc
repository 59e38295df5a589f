#include "grappler_lite/analysis/op_traits.h"

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "graph/functions/function_library.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/nodes.h"

namespace tenon {

bool NeverFails(std::string_view op) {
  static const auto* const kOps = new absl::flat_hash_set<std::string_view>{
      "Abs",       "Acos",       "Acosh",   "Asin",     "Asinh",        "Atan",  "Atanh",
      "Ceil",      "Const",      "Cos",     "Cosh",     "Elu",          "Erf",   "Erfc",
      "Exp",       "Expm1",      "Floor",   "Identity", "IdentityN",    "Inv",   "IsFinite",
      "IsInf",     "IsNan",      "Log",     "Log1p",    "LogicalNot",   "Neg",   "OnesLike",
      "Rank",      "Reciprocal", "Relu",    "Relu6",    "Rint",         "Round", "Rsqrt",
      "Selu",      "Shape",      "Sigmoid", "Sign",     "Sin",          "Sinh",  "Snapshot",
      "Softplus",  "Softsign",   "Sqrt",    "Square",   "StopGradient", "Tan",   "Tanh",
      "ZerosLike", "NoOp",       "ShapeN"};
  return op == "_UnaryOpsComposition" || kOps->contains(op);
}

// What calls functions is no more than these are.
bool MayStopARun(const Graph& g) {
  const std::shared_ptr<SharedFunctions> functions =
      HasFunctions(g) ? SharedFunctions::Of(g) : nullptr;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    if (functions == nullptr || !IsFunctional(g, n)) {
      if (MayStopARun(g.op_name(n), g.op(n))) return true;
      continue;
    }
    if (functions->MayStop(g, g.op_name(n))) return true;
    for (const Attr& a : g.attrs(n).all()) {
      for (const std::string_view name : FunctionsNamedBy(a.value)) {
        if (functions->MayStop(g, name)) return true;
      }
    }
  }
  return false;
}

bool IsAwaitedByValueOnly(const Graph& g, NodeId n) {
  return IsSwitchOp(g.op_name(n)) || IsFunctional(g, n);
}

bool ComputesAllResults(const AttrSet& attrs) {
  const AttrValue* mark = attrs.Find(kWrittenOut);
  return mark == nullptr || !mark->AsBool().value_or(false);
}

bool StaysCall(const AttrSet& function) {
  const AttrValue* mark = function.Find("_noinline");
  return mark != nullptr && mark->AsBool().value_or(false);
}

bool IsIdentityLike(std::string_view op) {
  return op == "Identity" || op == "Snapshot" || op == "StopGradient" || op == "PreventGradient";
}

}  // namespace tenon
