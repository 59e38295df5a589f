#include "executor/cli/model.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/invocation.h"
#include "executor/cli/rank_limit.h"
#include "executor/schedule.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon::cli {

absl::StatusOr<Imported> ImportModel(const std::string& path, const Options& options) {
  absl::StatusOr<Imported> imported = ImportFile(path, options.limits);
  if (!imported.ok()) return WithExit(Exit::kInvalidInput, imported.status());
  if (options.max_rank < kMaxRank) AddRankDefects(options.max_rank, *imported);
  return imported;
}

absl::StatusOr<Model> LoadModel(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  TENON_ASSIGN_OR_RETURN(Imported imported, ImportModel(options.paths.front(), options));
  const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
  if (imported.defects.empty()) return Model{std::move(imported.graph), load.count()};
  for (const Defect& defect : imported.defects) PrintErrorLine(defect.ToString());
  const Defect& worst = WorstDefect(imported.defects);
  const std::string text = worst.ToString();
  switch (worst.code) {
    case DefectCode::kUnknownOp:
      return AlreadyPrinted(WithExit(Exit::kRunFailed, absl::UnimplementedError(text)));
    case DefectCode::kPlugin:
      return AlreadyPrinted(WithExit(Exit::kPluginFault, absl::InternalError(text)));
    default:
      return AlreadyPrinted(WithExit(Exit::kInvalidInput, absl::InvalidArgumentError(text)));
  }
}

const Defect& WorstDefect(const std::vector<Defect>& defects) {
  const auto weight = [](const Defect& defect) {
    return defect.code == DefectCode::kUnknownOp ? 0 : defect.code == DefectCode::kPlugin ? 1 : 2;
  };
  return *std::max_element(
      defects.begin(), defects.end(),
      [weight](const Defect& a, const Defect& b) { return weight(a) < weight(b); });
}

std::vector<NodeId> Placeholders(const Graph& graph) {
  std::vector<NodeId> found;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsPlaceholder(graph, n)) found.push_back(n);
  }
  return found;
}

SpecHint DeclaredInput(const Graph& graph, NodeId n) {
  SpecHint hint;
  if (const AttrValue* dtype = graph.attr(n, "dtype"))
    hint.dtype = dtype->AsType().value_or(DataType::kInvalid);
  if (const AttrValue* shape = graph.attr(n, "shape"))
    hint.shape = shape->AsShape().value_or(PartialShape());
  return hint;
}

namespace {

// By node: whether its value is there in some runs only, or once per pass of a loop: behind a
// Switch without a Merge, or an Enter without an Exit.
std::vector<bool> Conditional(const Graph& graph) {
  std::vector<bool> conditional(graph.num_node_ids());
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(graph);
  if (!order.ok()) return conditional;
  for (NodeId n : *order) {
    const std::string_view op = graph.op_name(n);
    if (IsExitOp(op)) continue;
    const auto is_conditional = [&](const Output& from) {
      return from.node != kNoNode &&
             (conditional[from.node] || IsNextIterationOp(graph.op_name(from.node)));
    };
    const std::span<const Output> inputs = graph.inputs(n);
    conditional[n] = IsSwitchOp(op) || IsEnterOp(op) ||
                     (IsMergeOp(op) ? std::all_of(inputs.begin(), inputs.end(), is_conditional)
                                    : std::any_of(inputs.begin(), inputs.end(), is_conditional));
  }
  return conditional;
}

}  // namespace

std::vector<std::string> GraphOutputs(const Graph& graph) {
  const std::vector<bool> conditional = Conditional(graph);
  std::vector<bool> consumed(graph.num_node_ids());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    for (const Output& input : graph.data_inputs(n)) {
      if (input.node != kNoNode) consumed[input.node] = true;
    }
  }
  std::vector<std::string> outputs;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || consumed[n] || conditional[n]) continue;
    for (int port = 0; port < graph.num_outputs(n); ++port)
      outputs.push_back(graph.OutputName({n, port}));
  }
  return outputs;
}

std::vector<NodeId> UnfedPlaceholders(const Graph& graph, const std::vector<Output>& fetches,
                                      const std::vector<Output>& fed) {
  std::vector<bool> seen(graph.num_node_ids());
  std::vector<NodeId> open, found;
  const auto visit = [&](const Output& o) {
    if (o.node == kNoNode || seen[o.node]) return;
    // Who waits for a placeholder waits for its feed.
    const Output value = o.is_control() && IsPlaceholder(graph, o.node) ? Output{o.node, 0} : o;
    if (std::find(fed.begin(), fed.end(), value) != fed.end()) return;
    seen[o.node] = true;
    open.push_back(o.node);
  };
  for (const Output& fetch : fetches) visit(fetch);
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    if (IsPlaceholder(graph, n)) found.push_back(n);
    for (const Output& input : graph.inputs(n)) visit(input);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tenon::cli
