#include "grappler_lite/op_traits.h"

#include "absl/container/flat_hash_set.h"
#include "graph/nodes.h"

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
      "ZerosLike", "NoOp"};
  return kOps->contains(op);
}

bool IsAwaitedByValueOnly(const Graph& g, NodeId n) {
  return IsSwitchOp(g.op_name(n)) || IsFunctional(g, n);
}

bool IsIdentityLike(std::string_view op) {
  return op == "Identity" || op == "Snapshot" || op == "StopGradient" || op == "PreventGradient";
}

}  // namespace tenon
