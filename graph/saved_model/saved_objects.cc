// A model of TensorFlow 2 names its variables by a graph of objects. A function lists the objects
// that it captured; the checkpoint has a graph of objects too, and walking both along children of
// equal names tells the key of each variable's value.

#include "graph/saved_model/saved_objects.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/shape_wire.h"
#include "proto/saved_object_graph.pb.h"

namespace tenon {
namespace {

// The attribute of an object of a checkpoint that has the variable's value.
constexpr char kValue[] = "VARIABLE_VALUE";

template <typename Message>
absl::StatusOr<Message> Parse(std::string_view bytes, std::string_view what) {
  Message message;
  if (bytes.size() > INT_MAX ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::InvalidArgumentError(absl::StrCat("malformed ", what));
  return message;
}

// The function that a node calls; empty if it calls none.
std::string_view CalledFunction(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  if (op != "PartitionedCall" && op != "StatefulPartitionedCall") return op;
  const AttrValue* f = graph.attr(n, "f");
  if (f == nullptr) return {};
  const absl::StatusOr<FuncAttr> function = f->AsFunc();
  return function.ok() ? function->name : std::string_view();
}

absl::StatusOr<CapturedVariable> VariableOf(const pb::SavedVariable& saved, NodeId handle,
                                            int object) {
  CapturedVariable variable{handle, object, saved.name(), static_cast<DataType>(saved.dtype()), {}};
  absl::StatusOr<PartialShape> shape = ShapeFromWire(saved.shape().SerializeAsString());
  if (!shape.ok() || !IsKnownDataType(saved.dtype())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variable '", saved.name(), "' of the saved objects: ",
        shape.ok() ? absl::StrCat(saved.dtype(), " is no DataType") : shape.status().message()));
  }
  variable.shape = *std::move(shape);
  return variable;
}

}  // namespace

absl::StatusOr<std::vector<CapturedVariable>> CapturedVariables(const Graph& graph,
                                                                std::string_view objects) {
  TENON_ASSIGN_OR_RETURN(const auto saved,
                         Parse<pb::SavedObjectGraph>(objects, "SavedObjectGraph"));
  std::vector<CapturedVariable> variables;
  // Several functions may capture one variable.
  std::vector<bool> seen(graph.num_node_ids());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const auto function = saved.concrete_functions().find(std::string(CalledFunction(graph, n)));
    if (function == saved.concrete_functions().end()) continue;
    // A call passes the captured values behind the arguments.
    const auto& bound = function->second.bound_inputs();
    const auto inputs = graph.data_inputs(n);
    if (static_cast<size_t>(bound.size()) > inputs.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function '", function->first, "' of the saved objects has captured ", bound.size(),
          " values, node '", graph.name(n), "' that calls it has ", inputs.size(), " inputs"));
    }
    const auto captured = inputs.last(static_cast<size_t>(bound.size()));
    for (int i = 0; i < bound.size(); ++i) {
      const NodeId handle = captured[i].node;
      if (bound[i] < 0 || bound[i] >= saved.nodes_size()) {
        return absl::InvalidArgumentError(absl::StrCat("function '", function->first,
                                                       "' has captured saved object ", bound[i],
                                                       " of ", saved.nodes_size()));
      }
      if (!saved.nodes(bound[i]).has_variable() || handle == kNoNode || seen[handle] ||
          graph.op_name(handle) != "VarHandleOp")
        continue;
      seen[handle] = true;
      TENON_ASSIGN_OR_RETURN(CapturedVariable variable,
                             VariableOf(saved.nodes(bound[i]).variable(), handle, bound[i]));
      variables.push_back(std::move(variable));
    }
  }
  return variables;
}

absl::StatusOr<std::vector<std::string>> CapturedConstants(std::string_view objects) {
  TENON_ASSIGN_OR_RETURN(const auto saved,
                         Parse<pb::SavedObjectGraph>(objects, "SavedObjectGraph"));
  std::vector<std::string> names;
  for (const auto& object : saved.nodes()) {
    if (object.has_constant()) names.push_back(object.constant().operation());
  }
  return names;
}

absl::StatusOr<std::vector<std::string>> CheckpointKeys(
    const std::vector<CapturedVariable>& variables, std::string_view objects,
    std::string_view checkpoint_objects) {
  TENON_ASSIGN_OR_RETURN(const auto saved,
                         Parse<pb::SavedObjectGraph>(objects, "SavedObjectGraph"));
  TENON_ASSIGN_OR_RETURN(const auto stored, Parse<pb::TrackableObjectGraph>(
                                                checkpoint_objects, "TrackableObjectGraph"));
  absl::flat_hash_map<std::pair<int, std::string_view>, int> child_of;
  for (int i = 0; i < stored.nodes_size(); ++i) {
    for (const auto& child : stored.nodes(i).children()) {
      if (child.node_id() < 0 || child.node_id() >= stored.nodes_size())
        return absl::InvalidArgumentError(
            absl::StrCat("object ", i, " of the checkpoint has a child ", child.node_id(), " of ",
                         stored.nodes_size(), " objects"));
      child_of.emplace(std::pair(i, std::string_view(child.local_name())), child.node_id());
    }
  }
  // Walks both graphs of objects from their roots along children of the same name.
  constexpr int kNone = -1;
  std::vector<int> same(saved.nodes_size(), kNone);  // the checkpoint's, by the model's
  std::vector<int> open;
  if (saved.nodes_size() > 0 && stored.nodes_size() > 0) {
    same[0] = 0;
    open.push_back(0);
  }
  while (!open.empty()) {
    const int object = open.back();
    open.pop_back();
    for (const auto& child : saved.nodes(object).children()) {
      const auto found = child_of.find({same[object], child.local_name()});
      if (found == child_of.end() || child.node_id() < 0 || child.node_id() >= saved.nodes_size() ||
          same[child.node_id()] != kNone)
        continue;
      same[child.node_id()] = found->second;
      open.push_back(child.node_id());
    }
  }
  std::vector<std::string> keys;
  for (const CapturedVariable& variable : variables) {
    std::string& key = keys.emplace_back();
    if (variable.object >= saved.nodes_size() || same[variable.object] == kNone) continue;
    const auto& attributes = stored.nodes(same[variable.object]).attributes();
    const auto value = std::find_if(attributes.begin(), attributes.end(),
                                    [](const auto& a) { return a.name() == kValue; });
    if (value != attributes.end()) key = value->checkpoint_key();
  }
  return keys;
}

}  // namespace tenon
