// State that cannot become a constant: tables, and variables that are written or that functions
// make. The frozen graph gets nodes that fill the state with the values that a restored session
// holds.

#include "executor/freeze/kept_state.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/attr_value.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

using Identities = absl::flat_hash_set<std::string>;

// The makers of state that a search found.
struct Met {
  // One for each identity; nodes of the graph come before nodes in functions.
  std::vector<ReachedNode> makers;
  Identities identities, variables_in_functions;
  bool fills_tables = false, fills_variables = false;
};

// Collects the makers of state that the roots need, in the graph and in its functions.
Met Meet(const Graph& graph, absl::Span<const NodeId> roots) {
  Met met;
  VisitReached(graph, roots, [&](const ReachedNode& node) {
    met.fills_tables |= node.op_name.starts_with("InitializeTable") ||
                        node.op_name.starts_with("LookupTableImport");
    met.fills_variables |= node.op_name == "Assign" || node.op_name == "AssignVariableOp";
    if (!MakesState(node)) return;
    std::string identity = IdentityOf(node);
    if (node.facts().state == State::kVariable && node.in_function())
      met.variables_in_functions.insert(identity);
    if (met.identities.insert(std::move(identity)).second) met.makers.push_back(node);
  });
  return met;
}

std::vector<NodeId> LiveNodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) nodes.push_back(n);
  }
  return nodes;
}

bool ByReference(const Graph& graph, NodeId n) { return IsRef(graph.output_type({n, 0})); }

// Returns the output to fetch for the value. A fetch of a variable of version 1 is a read.
absl::StatusOr<std::string> AddRead(Graph& graph, NodeId variable) {
  if (ByReference(graph, variable)) return std::string(graph.name(variable));
  std::string name = graph.UniqueName(absl::StrCat("freeze/read/", graph.name(variable)));
  const Output from{variable, 0};
  TENON_RETURN_IF_ERROR(
      graph
          .AddNode(name, "ReadVariableOp", {&from, 1},
                   {{"dtype", std::string(graph.attr(variable, "dtype")->wire())}})
          .status());
  return name;
}

bool IsDense(const OpFacts& op) { return op.state == State::kDenseTable; }
size_t NumReads(const OpFacts& table) { return IsDense(table) ? 3 : 2; }

// Appends the fetches of a table: keys, values, and for a dense table also its empty key, from
// which AddFill learns the shape of a key. NumReads counts them.
absl::Status AddTableReads(Graph& graph, NodeId table, std::vector<std::string>& fetches) {
  const std::string name = graph.UniqueName(absl::StrCat("freeze/export/", graph.name(table)));
  const Output from{table, 0};
  TENON_RETURN_IF_ERROR(
      graph
          .AddNode(name, ByReference(graph, table) ? "LookupTableExport" : "LookupTableExportV2",
                   {&from, 1},
                   {{"Tkeys", std::string(graph.attr(table, "key_dtype")->wire())},
                    {"Tvalues", std::string(graph.attr(table, "value_dtype")->wire())}})
          .status());
  fetches.push_back(absl::StrCat(name, ":0"));
  fetches.push_back(absl::StrCat(name, ":1"));
  if (IsDense(graph.facts(table))) fetches.push_back(graph.OutputName(graph.inputs(table)[0]));
  return absl::OkStatus();
}

absl::StatusOr<Output> AddConst(Graph& graph, std::string_view base, const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(const NodeId n, graph.AddNode(graph.UniqueName(base), "Placeholder", {},
                                                       {{"dtype", attr::Type(value.dtype())}}));
  TENON_RETURN_IF_ERROR(graph.MakeConst(n, value));
  return Output{n, 0};
}

absl::StatusOr<NodeId> AddAssign(Graph& graph, NodeId variable, const Tensor& value) {
  const std::string name(graph.name(variable));
  const bool by_reference = ByReference(graph, variable);
  TENON_ASSIGN_OR_RETURN(const Output from, AddConst(graph, absl::StrCat(name, "/value"), value));
  return graph.AddNode(graph.UniqueName(absl::StrCat(name, "/assign")),
                       by_reference ? "Assign" : "AssignVariableOp",
                       std::vector<Output>{{variable, 0}, from},
                       {{by_reference ? "T" : "dtype", attr::Type(value.dtype())}});
}

// A dense table exports its entries as matrices, but takes elements of the shape of its empty key.
// LookupTableInsert fills it: TensorFlow's LookupTableImport accepts entries of such shapes only
// where it does not know the shapes.
absl::StatusOr<Tensor> AsElements(const Tensor& matrix, const PartialShape& element) {
  std::vector<int64_t> dims = {matrix.shape().dim(0)};
  if (element.known_rank()) dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, PartialShape::Make(dims));
  const std::optional<Shape> whole = shape.ToShape();
  if (whole && whole->num_elements() == matrix.num_elements()) return matrix.Reshaped(*whole);
  return absl::InternalError(absl::StrCat("entries of a table have shape ",
                                          matrix.shape().ToString(), " where its elements have ",
                                          element.ToString()));
}

// Adds the node that fills a table. `entries` are the values of its fetches.
absl::StatusOr<NodeId> AddFill(Graph& graph, NodeId table, absl::Span<const Tensor> entries) {
  const std::string name(graph.name(table));
  const bool once = graph.facts(table).state == State::kFilledTable;
  const bool dense = IsDense(graph.facts(table));
  Tensor keys = entries[0], values = entries[1];
  if (dense) {
    TENON_ASSIGN_OR_RETURN(const PartialShape element, graph.attr(table, "value_shape")->AsShape());
    TENON_ASSIGN_OR_RETURN(keys, AsElements(keys, PartialShape(entries[2].shape())));
    TENON_ASSIGN_OR_RETURN(values, AsElements(values, element));
  }
  TENON_ASSIGN_OR_RETURN(const Output keys_from,
                         AddConst(graph, absl::StrCat(name, "/keys"), keys));
  TENON_ASSIGN_OR_RETURN(const Output values_from,
                         AddConst(graph, absl::StrCat(name, "/values"), values));
  const std::string_view op = once    ? "InitializeTable"
                              : dense ? "LookupTableInsert"
                                      : "LookupTableImport";
  return graph.AddNode(graph.UniqueName(absl::StrCat(name, "/fill")),
                       absl::StrCat(op, ByReference(graph, table) ? "" : "V2"),
                       std::vector<Output>{{table, 0}, keys_from, values_from},
                       {{once ? "Tkey" : "Tin", attr::Type(keys.dtype())},
                        {once ? "Tval" : "Tout", attr::Type(values.dtype())}});
}

// OK if a node of the frozen graph can fill the resource that an initializer fills; else
// UNIMPLEMENTED with the reason.
absl::Status CheckFillable(const ReachedNode& maker) {
  const auto wrong = [&](std::string_view why) {
    return absl::UnimplementedError(
        absl::StrCat(maker.ToString(), why, ": what the initializer puts there cannot be frozen"));
  };
  if (maker.facts().anonymous)
    return wrong(" makes a table without a name, which is a new one in each run");
  if (!IsTable(maker.facts())) return wrong(" is neither a table nor a variable");
  if (maker.in_function() && maker.TextAttr("shared_name").empty())
    return wrong(" makes a table without 'shared_name' for others to find it by");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KeptState> KeptState::Find(const Graph& graph, const Graph& model,
                                          absl::Span<const NodeId> fillers) {
  KeptState state;
  const Met needed = Meet(graph, LiveNodes(graph));
  const Identities filled = Meet(model, fillers).identities;
  for (const ReachedNode& maker : needed.makers) {
    const std::string identity = IdentityOf(maker);
    const bool is_filled = filled.contains(identity);
    if (maker.facts().state == State::kVariable) {
      if (maker.in_function() && is_filled) state.variables_.push_back(maker);
      if (!maker.in_function() && needed.variables_in_functions.contains(identity))
        state.shared_variables_.emplace(maker.name);
    } else if (is_filled && maker.op_name != "MutexV2") {
      TENON_RETURN_IF_ERROR(CheckFillable(maker));
      state.tables_.push_back(maker);
    } else if (maker.facts().state == State::kFilledTable && !needed.fills_tables) {
      return absl::FailedPreconditionError(
          absl::StrCat(maker.ToString(),
                       ": no initializer of the model fills this table; --init "
                       "names a node that does"));
    }
  }
  return state;
}

void KeptState::KeepVariable(const Graph& graph, std::string_view name) {
  ReachedNode maker;
  maker.node = graph.FindNode(name);
  maker.name = graph.name(maker.node);
  variables_.push_back(std::move(maker));
}

absl::StatusOr<NodeId> KeptState::HandleIn(Graph& graph, const ReachedNode& maker) {
  if (maker.in_function()) return AddCopyOf(graph, maker);
  return graph.FindNode(maker.name);
}

absl::StatusOr<std::vector<std::string>> KeptState::AddReads(Graph& model) const {
  std::vector<std::string> fetches;
  for (const ReachedNode& maker : variables_) {
    TENON_ASSIGN_OR_RETURN(const NodeId variable, HandleIn(model, maker));
    TENON_ASSIGN_OR_RETURN(fetches.emplace_back(), AddRead(model, variable));
  }
  for (const ReachedNode& maker : tables_) {
    TENON_ASSIGN_OR_RETURN(const NodeId table, HandleIn(model, maker));
    TENON_RETURN_IF_ERROR(AddTableReads(model, table, fetches));
  }
  return fetches;
}

absl::StatusOr<KeptState::Init> KeptState::AddInit(Graph& frozen,
                                                   absl::Span<const Tensor> values) const {
  Init init;
  std::vector<Output> fillers;
  auto value = values.begin();
  for (const ReachedNode& maker : variables_) {
    TENON_ASSIGN_OR_RETURN(const NodeId variable, HandleIn(frozen, maker));
    init.variables.emplace_back(frozen.name(variable));
    TENON_ASSIGN_OR_RETURN(const NodeId filler, AddAssign(frozen, variable, value[0]));
    fillers.push_back({filler, kControlPort});
    value += 1;
  }
  for (const ReachedNode& maker : tables_) {
    TENON_ASSIGN_OR_RETURN(const NodeId table, HandleIn(frozen, maker));
    init.tables.emplace_back(frozen.name(table));
    const size_t reads = NumReads(maker.facts());
    TENON_ASSIGN_OR_RETURN(const NodeId filler, AddFill(frozen, table, {&*value, reads}));
    fillers.push_back({filler, kControlPort});
    value += static_cast<ptrdiff_t>(reads);
  }
  if (fillers.empty()) return init;
  init.node = frozen.UniqueName("init_state");
  TENON_RETURN_IF_ERROR(frozen.AddNode(init.node, "NoOp", fillers, {}).status());
  return init;
}

KeptState::Init KeptState::FilledBy(std::string node) const {
  Init init;
  for (const ReachedNode& maker : variables_) init.variables.emplace_back(maker.name);
  for (const ReachedNode& maker : tables_) init.tables.emplace_back(maker.name);
  if (!variables_.empty() || !tables_.empty()) init.node = std::move(node);
  return init;
}

std::string UnfilledState(const Graph& graph) {
  const Met met = Meet(graph, LiveNodes(graph));
  for (const ReachedNode& maker : met.makers) {
    const bool variable = maker.facts().state == State::kVariable && !met.fills_variables;
    const bool table = maker.facts().state == State::kFilledTable && !met.fills_tables;
    if (variable || table) return maker.ToString();
  }
  return "";
}

}  // namespace tenon
