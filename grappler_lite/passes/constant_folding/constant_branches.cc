// A branch of which the condition is known becomes a call, which later passes inline or specialize.
// The condition need not be a Const: KnownValues computes it on trial, and the nodes stay.

#include "grappler_lite/passes/constant_folding/constant_branches.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/functions/function_graph.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/wire.h"
#include "grappler_lite/analysis/needed_arguments.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/known_values.h"

namespace tenon {
namespace {

constexpr RewriteInfo kFoldIf = {"fold_if", Exactness::kExact};
constexpr RewriteInfo kFoldCase = {"fold_case", Exactness::kExact};
constexpr RewriteInfo kFoldWhile = {"fold_while", Exactness::kExact};

constexpr uint32_t kAttrFunc = 10;  // of AttrValue

class BranchFolder {
 public:
  explicit BranchFolder(PassContext& context)
      : c_(context),
        g_(context.graph),
        known_(g_, context.evaluator, context.feeds, context.gate) {}

  bool Run() {
    bool changed = false;
    for (NodeId n = 0, end = g_.num_node_ids(); n < end; ++n) {
      if (!g_.alive(n) || c_.feeds.contains(n) || MustStay(g_, n) || !g_.kind(n).types_status.ok())
        continue;
      const CallKind calls = g_.facts(n).calls;
      if (calls == CallKind::kIf) changed |= FoldIf(n);
      if (calls == CallKind::kCase) changed |= FoldCase(n);
      if (calls == CallKind::kWhile) changed |= FoldWhile(n);
    }
    return changed;
  }

 private:
  bool FoldIf(NodeId n) {
    const std::optional<Tensor> choice = known_.Find(g_.data_inputs(n)[0]);
    if (!choice.has_value()) return false;
    const std::optional<bool> truth = Truth(*choice);
    if (!truth.has_value()) return false;
    const AttrValue* branch = g_.attr(n, *truth ? "then_branch" : "else_branch");
    const AttrValue* other = g_.attr(n, *truth ? "else_branch" : "then_branch");
    if (branch == nullptr || !IsThere(other) || !c_.Allow(kFoldIf.name, n)) return false;
    BecomeCall(n, std::string(branch->wire()));
    return true;
  }

  // Whether the library has the function, and its body is whole. A graph that names another one is
  // refused when it is lowered, as TensorFlow refuses it, although the function would not run.
  bool IsThere(const AttrValue* function) {
    if (function == nullptr) return false;
    const absl::StatusOr<FuncAttr> named = function->AsFunc();
    return named.ok() && IsThere(*named);
  }
  bool IsThere(const FuncAttr& named) {
    const FunctionEntry* entry = g_.FindFunction(named.name);
    return entry != nullptr && FunctionGraph::Make(g_, *entry, functions_).ok();
  }

  // An index that no branch has chooses the last.
  bool FoldCase(NodeId n) {
    const std::optional<Tensor> choice = known_.Find(g_.data_inputs(n)[0]);
    const AttrValue* attr = g_.attr(n, "branches");
    if (!choice.has_value() || attr == nullptr || choice->dtype() != DataType::kInt32 ||
        choice->shape().rank() != 0)
      return false;
    const absl::StatusOr<std::vector<FuncAttr>> branches = attr->AsFuncList();
    if (!branches.ok() || branches->empty()) return false;
    int64_t index = choice->IntAt(0);
    const int64_t last = std::ssize(*branches) - 1;
    if (index < 0 || index > last) index = last;
    const bool are_there = std::all_of(branches->begin(), branches->end(),
                                       [this](const FuncAttr& f) { return IsThere(f); });
    if (!are_there || !c_.Allow(kFoldCase.name, n)) return false;
    std::string wire;
    // attrs_wire is the whole NameAttrList, the name included.
    WireWriter(&wire).Bytes(kAttrFunc, (*branches)[index].attrs_wire);
    BecomeCall(n, std::move(wire));
    return true;
  }

  // n becomes a call of `function` on all inputs but the first. A branch that computed only what is
  // read is a call that does.
  void BecomeCall(NodeId n, std::string function) {
    const bool stateful = g_.op(n)->is_stateful;
    NewAttrs attrs = {{"f", std::move(function)}};
    for (const char* types : {"Tin", "Tout"}) {
      if (const AttrValue* list = g_.attr(n, types); list != nullptr)
        attrs.push_back({types, std::string(list->wire())});
    }
    if (!ComputesAllResults(g_.attrs(n))) attrs.push_back({kWrittenOut, attr::Bool(true)});
    const std::vector<Output> args(g_.data_inputs(n).begin() + 1, g_.data_inputs(n).end());
    const std::vector<Output> control(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
    g_.BecomeOp(n, stateful ? "StatefulPartitionedCall" : "PartitionedCall", std::move(attrs));
    g_.SetInputs(n, args, control);
  }

  // A loop whose condition is false for the first values gives these values.
  bool FoldWhile(NodeId n) {
    const size_t count = g_.data_inputs(n).size();
    const AttrValue* cond = g_.attr(n, "cond");
    if (count == 0 || cond == nullptr || !MayGiveAllValues(n) || !NeverRuns(n, *cond) ||
        !IsThere(g_.attr(n, "body")))
      return false;
    const TypeVector& types = g_.kind(n).types.outputs;
    const std::vector<DataType> list(types.begin(), types.end());
    const std::string type = count == 1 ? attr::Type(list[0]) : attr::TypeList(list);
    const std::string_view op = count == 1 ? "Identity" : "IdentityN";
    if (!c_.HasKernel(n, op, {{"T", type}}) || !c_.Allow(kFoldWhile.name, n)) return false;
    g_.BecomeOp(n, op, {{"T", type}});
    return true;
  }

  // Whether one node may give all first values, and so wait for all. A loop that is written out
  // waits for the first and for those that are read: any other may fail without harm.
  bool MayGiveAllValues(NodeId n) {
    if (ComputesAllResults(g_.attrs(n)) || c_.preserve.contains(n)) return true;
    std::vector<bool> read(g_.num_outputs(n), false);
    if (!needed_.has_value()) FindNeeded();
    for (const Fanouts::Use& use : fanouts_->of(n)) {
      if (use.port != kControlPort && (*needed_)[use.node]) read[use.port] = true;
    }
    for (size_t i = 1; i < read.size(); ++i) {
      const NodeId from = g_.data_inputs(n)[i].node;
      if (!read[i] && !c_.feeds.contains(from) && g_.op_name(from) != "Const") return false;
    }
    return true;
  }

  // Finds the nodes that the fetches need: exporters give each output of a loop a reader.
  void FindNeeded() {
    fanouts_.emplace(g_);
    needed_ = NeededArguments(g_).NodesFor(
        c_.fetches, [this](const Output& o) { return c_.feeds.contains(o.node); });
    for (const NodeId n : c_.preserve) (*needed_)[n] = true;
  }

  // Whether the condition is false for the first values, and does nothing else.
  bool NeverRuns(NodeId n, const AttrValue& cond) {
    const absl::StatusOr<FuncAttr> function = cond.AsFunc();
    const FunctionEntry* entry = function.ok() ? g_.FindFunction(function->name) : nullptr;
    if (entry == nullptr) return false;
    absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(g_, *entry, functions_);
    if (!body.ok() || !body->effects.empty() || body->results.size() != 1 ||
        body->args.size() != g_.data_inputs(n).size())
      return false;
    const absl::flat_hash_set<NodeId> args(body->args.begin(), body->args.end());
    // As if arguments were fed: all that is known of one is the loop's first value of it.
    KnownValues known(body->graph, c_.evaluator, args, c_.gate);
    for (size_t i = 0; i < body->args.size(); ++i) {
      std::optional<Tensor> first = known_.Find(g_.data_inputs(n)[i]);
      if (first.has_value()) known.Set({body->args[i], 0}, *std::move(first));
    }
    const std::optional<Tensor> value = known.Find({body->results[0], 0});
    return value.has_value() && Truth(*value) == false;
  }

  PassContext& c_;
  Graph& g_;
  KnownValues known_;
  // As they were when first asked for; by node id.
  std::optional<Fanouts> fanouts_;
  std::optional<std::vector<bool>> needed_;
  const std::shared_ptr<SharedFunctions> functions_ = SharedFunctions::Of(g_);
};

}  // namespace

std::vector<RewriteInfo> ConstantBranches() { return {kFoldIf, kFoldCase, kFoldWhile}; }

bool FoldConstantBranches(PassContext& context) {
  return HasFunctions(context.graph) && BranchFolder(context).Run();
}

}  // namespace tenon
