// Gives the graphs that are compared the same state: copies from an initialized session, or else
// values made up from the names of variables.

#include "executor/proof/trial_state.h"

#include <farmhash.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/proof/input_sets.h"
#include "executor/state/state_makers.h"
#include "executor/values/element.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/cpu/containers/queue.h"
#include "plugin/cpu/containers/table.h"
#include "plugin/kernels/variable.h"

namespace tenon {
namespace {

template <typename T>
ObjectRef<T> Find(ResourceManager& resources, const VariableName& name) {
  return resources.LookupOrCreate<T>(name.container, name.name, [] { return ObjectRef<T>(); });
}

template <typename T>
void Put(ResourceManager& resources, const VariableName& name, const ObjectRef<T>& resource) {
  resources.LookupOrCreate<T>(name.container, name.name, [&] { return resource; });
}

absl::Status Assign(Variable& variable, Tensor value) {
  return variable.Assign(std::move(value), nullptr, [](const Tensor&) { return absl::OkStatus(); });
}

absl::Status CopyVariable(const VariableName& name, ResourceManager& from, ResourceManager& to) {
  const ObjectRef<Variable> variable = Find<Variable>(from, name);
  if (!variable) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(Tensor value, variable->Get());
  if (!value.initialized() || value.dtype() == DataType::kResource) return absl::OkStatus();
  // Its buffer is written whatever else holds it: sharing would let the run change `from`.
  if (variable->changes_in_place()) {
    TENON_ASSIGN_OR_RETURN(value, value.Copy());
  }
  auto copy = ObjectRef<Variable>::Make(name.name, variable->dtype());
  TENON_RETURN_IF_ERROR(Assign(*copy, std::move(value)));
  Put(to, name, copy);
  return absl::OkStatus();
}

absl::Status CopyTableOrQueue(const VariableName& name, ResourceManager& from,
                              ResourceManager& to) {
  if (const auto table = Find<cpu::Table>(from, name)) {
    TENON_ASSIGN_OR_RETURN(const ObjectRef<cpu::Table> copy, table->Copy());
    Put(to, name, copy);
  }
  if (const auto queue = Find<cpu::Queue>(from, name)) Put(to, name, queue->Copy());
  return absl::OkStatus();
}

std::vector<NodeId> LiveNodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) nodes.push_back(n);
  }
  return nodes;
}

// The same on every machine.
uint64_t SeedOf(std::string_view name) { return util::Fingerprint64(name.data(), name.size()); }

// Whether an op takes a root or a logarithm of this input, or takes it for a variance.
bool IsPositive(std::string_view op, int input) {
  if (op.starts_with("FusedBatchNorm")) return input == 4;
  if (op == "BatchNormWithGlobalNormalization") return input == 2;
  return op == "Sqrt" || op == "Rsqrt" || op == "Log" || op == "Log1p";
}

// Of positive values these give positive ones: what is added to a variance is a small constant.
bool KeepsSign(std::string_view op) {
  return op == "ReadVariableOp" || op == "Identity" || op == "Cast" || op == "Reshape" ||
         op == "AddV2" || op == "Add";
}

// Follows the variable's value forward. A negative variance would make NaN of every answer, in
// which no difference can be seen.
bool WantsPositive(const Graph& graph, const Fanouts& fanouts, NodeId variable) {
  std::vector<NodeId> open = {variable};
  absl::flat_hash_set<NodeId> seen = {variable};
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    for (const Fanouts::Use& use : fanouts.of(n)) {
      if (use.port == kControlPort) continue;
      const std::string_view op = graph.op_name(use.node);
      if (IsPositive(op, use.input)) return true;
      if (KeepsSign(op) && seen.insert(use.node).second) open.push_back(use.node);
    }
  }
  return false;
}

void MakePositive(Tensor& value) {
  for (int64_t i = 0; cli::IsFloatLike(value.dtype()) && i < value.num_elements(); ++i)
    cli::StoreDouble(value, i, std::abs(cli::ElementAsDouble(value, i)));
}

// Uninitialized where type or shape are not known.
absl::StatusOr<Tensor> MakeUp(const ReachedNode& variable, const VariableName& name) {
  const AttrValue* type_attr = variable.attrs.Find("dtype");
  const AttrValue* shape_attr = variable.attrs.Find("shape");
  if (type_attr == nullptr || shape_attr == nullptr) return Tensor();
  TENON_ASSIGN_OR_RETURN(const DataType type, type_attr->AsType());
  TENON_ASSIGN_OR_RETURN(const PartialShape partial, shape_attr->AsShape());
  const std::optional<Shape> shape = partial.ToShape();
  if (!shape || !CanMakeUp(type)) return Tensor();
  return OrdinaryTensor(type, *shape, SeedOf(name.name.empty() ? variable.name : name.name));
}

}  // namespace

absl::Status CopyState(const Graph& graph, ResourceManager& from, ResourceManager& to) {
  absl::Status status;
  VisitReached(graph, LiveNodes(graph), [&](const ReachedNode& node) {
    if (!MakesState(node)) return;
    if (node.facts().state == State::kVariable) {
      status.Update(CopyVariable(NameOfVariable(node), from, to));
      return;
    }
    const std::string_view shared = node.TextAttr("shared_name");
    status.Update(CopyTableOrQueue(
        {std::string(node.TextAttr("container")), std::string(shared.empty() ? node.name : shared)},
        from, to));
  });
  return status;
}

absl::Status MadeUpState::Fill(const Graph& graph, ResourceManager& state) {
  std::optional<Fanouts> fanouts;
  for (const NodeId n : LiveNodes(graph)) {
    if (graph.facts(n).state != State::kVariable) continue;
    const ReachedNode variable = ReachedInGraph(graph, n);
    const VariableName name = NameOfVariable(variable);
    if (Find<Variable>(state, name)) continue;
    const auto [value, fresh] = values_.try_emplace({name.container, name.name}, Tensor());
    if (fresh) {
      TENON_ASSIGN_OR_RETURN(value->second, MakeUp(variable, name));
      if (!fanouts) fanouts.emplace(graph);
      if (value->second.initialized() && WantsPositive(graph, *fanouts, n))
        MakePositive(value->second);
    }
    if (!value->second.initialized()) continue;
    auto made = ObjectRef<Variable>::Make(name.name);
    TENON_RETURN_IF_ERROR(Assign(*made, value->second));
    Put(state, name, made);
  }
  return absl::OkStatus();
}

}  // namespace tenon
