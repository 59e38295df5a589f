#include "executor/stablehlo/lowerability.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "executor/stablehlo/lowerer.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "executor/stablehlo/text.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/functions/shared_functions.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::stablehlo {
namespace {

Verdict Refuse(Refusal refusal, std::string detail) { return {refusal, std::move(detail)}; }

bool IsConstantInput(const Row& row, int i, int inputs) {
  if (i < 63 && (row.constants & In(i)) != 0) return true;
  return i == inputs - 1 && (row.constants & kLastInput) != 0;
}

// Calls `outside` for each output whose value must be known when the nodes are compiled and that
// none of them gives. `inside` tells by node which they are; `needs` says which inputs of a node
// must be known.
void FollowNeeds(const Graph& graph, absl::Span<const NodeId> nodes,
                 const std::vector<bool>& inside, absl::FunctionRef<std::vector<int>(NodeId)> needs,
                 absl::FunctionRef<void(Output)> outside) {
  std::vector<bool> followed(graph.num_node_ids());
  std::vector<NodeId> open;
  const auto need = [&](Output from) {
    if (!inside[from.node]) return outside(from);
    if (followed[from.node]) return;
    followed[from.node] = true;
    open.push_back(from.node);
  };
  for (const NodeId n : nodes) {
    for (const int i : needs(n)) need(graph.data_inputs(n)[i]);
    while (!open.empty()) {
      const NodeId from = open.back();
      open.pop_back();
      const Row* row = FindRow(graph.op_name(from));
      if (row != nullptr && row->shape_only) continue;
      for (const Output in : graph.data_inputs(from)) need(in);
    }
  }
}

}  // namespace

std::string_view RefusalCode(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "NONE";
    case Refusal::kOp:
      return "OP";
    case Refusal::kType:
      return "TYPE";
    case Refusal::kAttr:
      return "ATTR";
    case Refusal::kState:
      return "STATE";
    case Refusal::kDynamic:
      return "DYNAMIC";
    case Refusal::kFunction:
      return "FUNCTION";
  }
  return "";
}

bool CrossesBorder(DataType dtype) { return !ElementName(dtype).empty(); }

struct Lowerability::Memo {
  explicit Memo(const Graph& g) : graph(g) {}

  const Graph& graph;
  std::shared_ptr<SharedFunctions> functions;
  absl::flat_hash_map<const NodeKind*, std::unique_ptr<Verdict>> kinds;
  absl::flat_hash_map<std::string, std::unique_ptr<Verdict>> bodies;
  // By function that can be lowered: the arguments whose values must be known when it is compiled,
  // and for each argument whether the result of its number is the argument itself.
  struct Arguments {
    std::vector<int> needed;
    std::vector<bool> stay;
  };
  absl::flat_hash_map<std::string, Arguments> arguments;

  const Verdict& OfNode(const Graph& g, NodeId n, int depth);
  Verdict Judge(const Graph& g, NodeId n, int depth);
  const Verdict& OfFunction(const Graph& g, std::string_view name, int depth);
  Verdict JudgeBody(const Graph& g, std::string_view name, int depth);
  Arguments ArgumentsOf(const FunctionGraph& body);
  // As Lowerability::ConstantInputs, for a node that was judged.
  std::vector<int> ConstantInputs(const Graph& g, NodeId n);
};

const Verdict& Lowerability::Memo::OfNode(const Graph& g, NodeId n, int depth) {
  if (const auto it = kinds.find(&g.kind(n)); it != kinds.end()) return *it->second;
  // Judging a body may add to the map, so the answer is made first.
  auto verdict = std::make_unique<Verdict>(Judge(g, n, depth));
  return *kinds.insert_or_assign(&g.kind(n), std::move(verdict)).first->second;
}

Verdict Lowerability::Memo::Judge(const Graph& g, NodeId n, int depth) {
  const NodeKind& kind = g.kind(n);
  if (kind.op_name == "Const") {
    const DataType dtype = kind.types.outputs.empty() ? DataType::kInvalid : kind.types.outputs[0];
    if (CrossesBorder(dtype)) return {};
    return Refuse(Refusal::kType, std::string(DataTypeName(dtype)));
  }
  const bool is_call = g.FindFunction(kind.op_name) != nullptr;
  const Row* row = is_call ? FindRow("PartitionedCall") : FindRow(kind.op_name);
  if (row == nullptr) {
    if (kind.op != nullptr && kind.op->is_stateful)
      return Refuse(Refusal::kState, absl::StrCat(kind.op_name, " is stateful"));
    return Refuse(Refusal::kOp, absl::StrCat("no lowering for op ", kind.op_name));
  }
  if (row->lower == nullptr)
    return Refuse(Refusal::kDynamic,
                  absl::StrCat("the shape of what ", kind.op_name, " gives depends on values"));
  if (kind.op == nullptr || !kind.types_status.ok())
    return Refuse(Refusal::kOp, "the node's types are not known");
  const int inputs = static_cast<int>(kind.types.inputs.size());
  const auto wrong = [&](DataType t) { return !row->types.Has(BaseType(t)) || IsRef(t); };
  for (int i = 0; i < inputs; ++i) {
    if (IsConstantInput(*row, i, inputs) || (i < 63 && (row->any & In(i)) != 0)) continue;
    if (i >= 63 && row->any != 0 && (row->any >> 62) != 0) continue;
    if (wrong(kind.types.inputs[i]))
      return Refuse(Refusal::kType, absl::StrCat(kind.op_name, " with input ", i, " of ",
                                                 DataTypeName(kind.types.inputs[i])));
  }
  for (const DataType t : kind.types.outputs) {
    if (wrong(t))
      return Refuse(Refusal::kType,
                    absl::StrCat(kind.op_name, " with a result of ", DataTypeName(t)));
  }
  if (row->refuse != nullptr) {
    if (std::string why = row->refuse(g, n); !why.empty())
      return Refuse(Refusal::kAttr, absl::StrCat(kind.op_name, ": ", why));
  }
  if (!is_call && kind.op->facts->calls == CallKind::kNone) return {};
  for (const std::string_view name : CalledBy(kind.op_name, kind.attrs)) {
    if (g.FindFunction(name) == nullptr) continue;
    const Verdict& body = OfFunction(g, name, depth + 1);
    if (!body.ok()) return body;
  }
  return {};
}

const Verdict& Lowerability::Memo::OfFunction(const Graph& g, std::string_view name, int depth) {
  std::string key(name);
  if (const auto it = bodies.find(key); it != bodies.end()) return *it->second;
  // A function that reaches itself finds this answer.
  auto& slot = bodies[key] = std::make_unique<Verdict>(
      Refuse(Refusal::kFunction, absl::StrCat("function '", name, "' calls itself")));
  (void)slot;
  auto verdict = std::make_unique<Verdict>(JudgeBody(g, name, depth));
  return *(bodies[key] = std::move(verdict));
}

Verdict Lowerability::Memo::JudgeBody(const Graph& g, std::string_view name, int depth) {
  constexpr int kMostDepth = 64;
  if (depth > kMostDepth) return Refuse(Refusal::kFunction, "functions are nested too deep");
  if (functions == nullptr) functions = SharedFunctions::Of(graph);
  const absl::StatusOr<FunctionGraph> body =
      FunctionGraph::Make(graph, *g.FindFunction(name), functions);
  if (!body.ok())
    return Refuse(Refusal::kFunction,
                  absl::StrCat("function '", name, "': ", body.status().message()));
  const Graph& inner = body->graph;
  Verdict verdict;
  for (NodeId n = 0; n < inner.num_node_ids() && verdict.ok(); ++n) {
    if (!inner.alive(n) || inner.op_name(n) == "Placeholder") continue;
    const Verdict& node = OfNode(inner, n, depth);
    if (node.ok()) continue;
    verdict = Refuse(node.refusal == Refusal::kFunction ? node.refusal : Refusal::kFunction,
                     absl::StrCat("node '", inner.name(n), "' of function '", name,
                                  "': ", RefusalCode(node.refusal), ", ", node.detail));
  }
  if (verdict.ok()) arguments[std::string(name)] = ArgumentsOf(*body);
  // The kinds of the body's nodes end with its graph.
  for (NodeId n = 0; n < inner.num_node_ids(); ++n) {
    if (inner.alive(n)) kinds.erase(&inner.kind(n));
  }
  return verdict;
}

Lowerability::Memo::Arguments Lowerability::Memo::ArgumentsOf(const FunctionGraph& body) {
  Arguments arguments;
  const Graph& g = body.graph;
  std::vector<NodeId> ends = body.results;
  ends.insert(ends.end(), body.effects.begin(), body.effects.end());
  const auto is_argument = [&g](NodeId n) { return g.op_name(n) == "Placeholder"; };
  const absl::StatusOr<std::vector<NodeId>> nodes = OrderOf(g, ends, is_argument);
  if (!nodes.ok()) return arguments;  // whoever lowers it says why
  std::vector<bool> inside(g.num_node_ids());
  for (const NodeId n : *nodes) inside[n] = true;
  std::vector<bool> needed(body.args.size());
  FollowNeeds(
      g, *nodes, inside, [&](NodeId n) { return ConstantInputs(g, n); },
      [&](Output from) {
        const auto it = std::ranges::find(body.args, from.node);
        if (it != body.args.end()) needed[it - body.args.begin()] = true;
      });
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) arguments.needed.push_back(static_cast<int>(i));
    arguments.stay.push_back(i < body.results.size() &&
                             ArgumentOf(body, body.results[i]) == static_cast<int>(i));
  }
  return arguments;
}

std::vector<int> Lowerability::Memo::ConstantInputs(const Graph& g, NodeId n) {
  const NodeKind& kind = g.kind(n);
  const int inputs = g.num_inputs(n);
  std::vector<int> needed;
  if (const Row* row = FindRow(kind.op_name); row != nullptr) {
    const uint64_t more = row->more_constants == nullptr ? 0 : row->more_constants(g, n);
    for (int i = 0; i < inputs; ++i) {
      if (IsConstantInput(*row, i, inputs) || (more & In(std::min(i, 63))) != 0)
        needed.push_back(i);
    }
  }
  const CallKind calls = g.facts(n).calls;
  const std::optional<int> first = FirstArgument(calls);
  if (!first.has_value() || (calls == CallKind::kNone && g.FindFunction(kind.op_name) == nullptr))
    return needed;
  // A value that changes in a loop is not known there, whatever it is at first.
  const std::vector<bool>* stay = nullptr;
  if (calls == CallKind::kWhile) {
    const AttrValue* body = g.attr(n, "body");
    const absl::StatusOr<FuncAttr> named = body == nullptr ? FuncAttr() : body->AsFunc();
    const auto it = named.ok() ? arguments.find(named->name) : arguments.end();
    if (it == arguments.end()) return needed;
    stay = &it->second.stay;
  }
  for (const std::string_view name : CalledBy(kind.op_name, kind.attrs)) {
    const auto it = arguments.find(name);
    if (it == arguments.end()) continue;
    for (const int i : it->second.needed) {
      const bool stays = stay == nullptr || (static_cast<size_t>(i) < stay->size() && (*stay)[i]);
      if (*first + i < inputs && stays) needed.push_back(*first + i);
    }
  }
  std::ranges::sort(needed);
  const auto twice = std::ranges::unique(needed);
  needed.erase(twice.begin(), twice.end());
  return needed;
}

Lowerability::Lowerability(const Graph& graph) : memo_(std::make_unique<Memo>(graph)) {}
Lowerability::~Lowerability() = default;

const Verdict& Lowerability::Ask(NodeId n) { return memo_->OfNode(memo_->graph, n, 0); }

std::vector<int> Lowerability::ConstantInputs(NodeId n) {
  (void)Ask(n);  // looks into the functions
  return memo_->ConstantInputs(memo_->graph, n);
}

ConstantNeeds FindConstantNeeds(const Graph& graph, absl::Span<const NodeId> nodes,
                                Lowerability& lowerability) {
  ConstantNeeds needs;
  std::vector<bool> inside(graph.num_node_ids());
  absl::flat_hash_set<Output> seen;
  for (const NodeId n : nodes) inside[n] = true;
  FollowNeeds(
      graph, nodes, inside, [&](NodeId n) { return lowerability.ConstantInputs(n); },
      [&](Output from) {
        if (graph.op_name(from.node) != "Const" && seen.insert(from).second)
          needs.outside.push_back(from);
      });
  return needs;
}

}  // namespace tenon::stablehlo
