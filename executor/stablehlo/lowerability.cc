#include "executor/stablehlo/lowerability.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/stablehlo/rows.h"
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

  const Verdict& OfNode(const Graph& g, NodeId n, int depth);
  Verdict Judge(const Graph& g, NodeId n, int depth);
  const Verdict& OfFunction(const Graph& g, std::string_view name, int depth);
  Verdict JudgeBody(const Graph& g, std::string_view name, int depth);
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
  // The kinds of the body's nodes end with its graph.
  for (NodeId n = 0; n < inner.num_node_ids(); ++n) {
    if (inner.alive(n)) kinds.erase(&inner.kind(n));
  }
  return verdict;
}

Lowerability::Lowerability(const Graph& graph) : memo_(std::make_unique<Memo>(graph)) {}
Lowerability::~Lowerability() = default;

const Verdict& Lowerability::Ask(NodeId n) { return memo_->OfNode(memo_->graph, n, 0); }

uint64_t Lowerability::ConstantInputs(NodeId n) {
  const Row* row = FindRow(memo_->graph.op_name(n));
  if (row == nullptr) return 0;
  uint64_t bits = row->constants & ~kLastInput;
  if (row->more_constants != nullptr) bits |= row->more_constants(memo_->graph, n);
  const int inputs = memo_->graph.num_inputs(n);
  if ((row->constants & kLastInput) != 0 && inputs > 0) bits |= In(std::min(inputs - 1, 63));
  return bits;
}

ConstantNeeds FindConstantNeeds(const Graph& graph, absl::Span<const NodeId> nodes,
                                Lowerability& lowerability) {
  ConstantNeeds needs;
  std::vector<bool> inside(graph.num_node_ids()), followed(graph.num_node_ids());
  absl::flat_hash_set<Output> seen;
  for (const NodeId n : nodes) inside[n] = true;
  std::vector<NodeId> open;
  const auto need = [&](Output from) {
    if (!inside[from.node]) {
      if (graph.op_name(from.node) != "Const" && seen.insert(from).second)
        needs.outside.push_back(from);
      return;
    }
    if (followed[from.node]) return;
    followed[from.node] = true;
    open.push_back(from.node);
  };
  for (const NodeId n : nodes) {
    const uint64_t bits = lowerability.ConstantInputs(n);
    const auto inputs = graph.data_inputs(n);
    for (size_t i = 0; bits != 0 && i < inputs.size(); ++i) {
      if ((bits & In(static_cast<int>(std::min<size_t>(i, 63)))) != 0) need(inputs[i]);
    }
    while (!open.empty()) {
      const NodeId from = open.back();
      open.pop_back();
      const Row* row = FindRow(graph.op_name(from));
      if (row != nullptr && row->shape_only) continue;
      for (const Output in : graph.data_inputs(from)) need(in);
    }
  }
  return needs;
}

}  // namespace tenon::stablehlo
