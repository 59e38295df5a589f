#include "grappler_lite/op_traits.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
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

namespace {

// Looks at nodes of the graph and of the functions that they reach.
class StopFinder {
 public:
  explicit StopFinder(const Graph& graph) : g_(graph) {}

  bool Found() {
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (g_.alive(n) && IsStop(g_.op_name(n), g_.op(n), g_.attrs(n).all())) return true;
    }
    for (size_t i = 0; i < functions_.size(); ++i) {
      for (const BodyNode& node : ParseFunctionBody(g_, *functions_[i]).nodes) {
        if (IsStop(node.op_name, node.op, node.attrs)) return true;
      }
    }
    return false;
  }

 private:
  // What calls functions is no more than these are.
  bool IsStop(std::string_view op_name, const OpDef* op, const std::vector<Attr>& attrs) {
    if (g_.functions().empty() || !IsFunctional(g_, op_name)) {
      return op != nullptr && (op->is_stateful || IsSwitchOp(op_name) ||
                               op_name == "CheckNumerics" || op_name == "CheckNumericsV2");
    }
    Reach(op_name);
    for (const Attr& a : attrs) {
      for (const std::string_view name : FunctionsNamedBy(a.value)) Reach(name);
    }
    return false;
  }

  void Reach(std::string_view name) {
    const FunctionEntry* function = g_.FindFunction(name);
    if (function != nullptr && seen_.insert(function->name).second) functions_.push_back(function);
  }

  const Graph& g_;
  std::vector<const FunctionEntry*> functions_;
  absl::flat_hash_set<std::string_view> seen_;
};

}  // namespace

bool MayStopARun(const Graph& graph) { return StopFinder(graph).Found(); }

bool IsAwaitedByValueOnly(const Graph& g, NodeId n) {
  return IsSwitchOp(g.op_name(n)) || IsFunctional(g, n);
}

bool IsIdentityLike(std::string_view op) {
  return op == "Identity" || op == "Snapshot" || op == "StopGradient" || op == "PreventGradient";
}

}  // namespace tenon
