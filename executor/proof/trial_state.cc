#include "executor/proof/made_up_state.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/proof/input_sets.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

struct VariableOp {
  std::string_view op, assign, type_of_assign;
};
constexpr VariableOp kVariableOps[] = {{"VarHandleOp", "AssignVariableOp", "dtype"},
                                       {"VariableV2", "Assign", "T"},
                                       {"Variable", "Assign", "T"}};

const VariableOp* FindVariableOp(std::string_view op) {
  for (const VariableOp& variable : kVariableOps) {
    if (variable.op == op) return &variable;
  }
  return nullptr;
}

// What nodes of one variable share.
std::string SharedName(const Graph& graph, NodeId n) {
  const AttrValue* attr = graph.attr(n, "shared_name");
  const std::string_view name = attr == nullptr ? "" : attr->AsString().value_or("");
  return std::string(name.empty() ? graph.name(n) : name);
}

// FNV-1a: the same on every machine.
uint64_t SeedOf(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// The node that assigns it a value; none where type or shape are not known.
absl::StatusOr<NodeId> AddAssignment(Graph& graph, NodeId variable, const VariableOp& op,
                                     uint64_t seed) {
  const AttrValue* type_attr = graph.attr(variable, "dtype");
  const AttrValue* shape_attr = graph.attr(variable, "shape");
  if (type_attr == nullptr || shape_attr == nullptr) return kNoNode;
  TENON_ASSIGN_OR_RETURN(const DataType type, type_attr->AsType());
  TENON_ASSIGN_OR_RETURN(const PartialShape partial, shape_attr->AsShape());
  const std::optional<Shape> shape = partial.ToShape();
  if (!shape || !CanMakeUp(type)) return kNoNode;
  TENON_ASSIGN_OR_RETURN(const Tensor value, OrdinaryTensor(type, *shape, seed));
  const std::string base = absl::StrCat(graph.name(variable), "/made_up");
  TENON_ASSIGN_OR_RETURN(const NodeId constant,
                         graph.AddNode(graph.UniqueName(base), "Placeholder", {},
                                       {{"dtype", attr::Type(type)}}, graph.device(variable)));
  TENON_RETURN_IF_ERROR(graph.MakeConst(constant, value));
  const Output inputs[] = {{variable, 0}, {constant, 0}};
  return graph.AddNode(graph.UniqueName(absl::StrCat(base, "/assign")), op.assign, inputs,
                       {{op.type_of_assign, attr::Type(type)}}, graph.device(variable));
}

}  // namespace

absl::StatusOr<std::string> AddMadeUpState(Graph& graph) {
  absl::flat_hash_set<std::string> done;
  std::vector<Output> assignments;
  const NodeId nodes = graph.num_node_ids();
  for (NodeId n = 0; n < nodes; ++n) {
    const VariableOp* op = graph.alive(n) ? FindVariableOp(graph.op_name(n)) : nullptr;
    if (op == nullptr) continue;
    const std::string name = SharedName(graph, n);
    if (!done.insert(absl::StrCat(op->op, " ", name)).second) continue;
    TENON_ASSIGN_OR_RETURN(const NodeId assignment, AddAssignment(graph, n, *op, SeedOf(name)));
    if (assignment != kNoNode) assignments.push_back({assignment, kControlPort});
  }
  if (assignments.empty()) return "";
  const std::string name = graph.UniqueName("made_up_state");
  TENON_RETURN_IF_ERROR(graph.AddNode(name, "NoOp", assignments, {}).status());
  return name;
}

}  // namespace tenon
