#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/graph/import/graph_import.h"
#include "executor/api/graph/import/import_nodes.h"
#include "executor/api/session/tf_deprecated_session.h"
#include "graph/base/status_macros.h"

namespace tenon::api {
namespace {

// "node:1", the form that sessions read.
absl::StatusOr<std::string> ResolveOutput(const Graph& graph, std::string_view text) {
  const InputText name = ParseInput(text);
  const NodeId n = graph.FindNode(name.node);
  if (n == kNoNode) {
    return absl::InvalidArgumentError(
        absl::StrCat("Tensor ", name.node, ":", name.port,
                     ", specified in either feed_devices or fetch_devices was not found in the "
                     "Graph"));
  }
  if (name.port < 0 || name.port >= graph.num_outputs(n)) {
    return absl::OutOfRangeError(absl::StrCat("Node '", name.node, "' (type: '", graph.op_name(n),
                                              "', num of outputs: ", graph.num_outputs(n),
                                              ") does not have output ", name.port));
  }
  return absl::StrCat(name.node, ":", name.port);
}

absl::Status ResolveOutputs(const Graph& graph, absl::Span<const char* const> texts,
                            std::vector<std::string>* names) {
  for (const char* text : texts) {
    TENON_ASSIGN_OR_RETURN(std::string name, ResolveOutput(graph, text));
    names->push_back(std::move(name));
  }
  return absl::OkStatus();
}

absl::Status ResolveTargets(const Graph& graph, absl::Span<const char* const> texts,
                            std::vector<std::string>* names) {
  std::vector<std::string_view> unknown;
  for (const char* text : texts) {
    const std::string_view node = ParseInput(text).node;
    if (graph.FindNode(node) == kNoNode) unknown.push_back(node);
    names->push_back(absl::StrCat("^", node));
  }
  if (unknown.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      "PruneForTargets: Some target nodes not found: ", absl::StrJoin(unknown, " "), " "));
}

absl::StatusOr<Graph> Imported(std::string_view graph_def) {
  TF_Graph graph;
  absl::MutexLock lock(&graph.mutex);
  TENON_RETURN_IF_ERROR(ImportGraphDef(graph, graph_def));
  return graph.graph;
}

}  // namespace

absl::StatusOr<EndNames> NamedSession::Resolve(const Names& names) {
  if (!has_graph_)
    return absl::InvalidArgumentError("Session was not created with a graph before Run()!");
  const Graph& graph = core_->session().graph();
  EndNames ends;
  TENON_RETURN_IF_ERROR(ResolveOutputs(graph, names.inputs, &ends.feeds));
  TENON_RETURN_IF_ERROR(ResolveOutputs(graph, names.outputs, &ends.fetches));
  TENON_RETURN_IF_ERROR(ResolveTargets(graph, names.targets, &ends.fetches));
  return ends;
}

absl::Status NamedSession::CheckNew(std::string_view graph_def) {
  Graph scratch;
  TENON_ASSIGN_OR_RETURN(const GraphDefText def, ParseGraphDef(graph_def, scratch));
  const Graph& graph = core_->session().graph();
  for (const NodeDefText& node : def.nodes) {
    if (graph.FindNode(node.name) == kNoNode) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "GraphDef argument to Extend includes node '", node.name,
        "', which was created by a previous call to Create or Extend in this session."));
  }
  return absl::OkStatus();
}

absl::Status NamedSession::Extend(std::string_view graph_def) {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  TENON_RETURN_IF_ERROR(CheckNew(graph_def));
  std::string whole = absl::StrCat(graph_def_, graph_def);
  TENON_ASSIGN_OR_RETURN(Graph graph, Imported(whole));
  core_->SetGraph(std::move(graph));
  graph_def_ = std::move(whole);
  has_graph_ = true;
  return absl::OkStatus();
}

absl::Status NamedSession::Run(const Names& names, const RunArguments& arguments) {
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  Executable* executable = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    TENON_ASSIGN_OR_RETURN(const EndNames ends, Resolve(names));
    TENON_ASSIGN_OR_RETURN(executable, core_->Prepare(ends.feeds, ends.fetches));
  }
  return core_->Run(executable, arguments);
}

absl::StatusOr<std::string> NamedSession::SetUpPartialRun(const Names& names) {
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  absl::MutexLock lock(&mutex_);
  TENON_ASSIGN_OR_RETURN(const EndNames ends, Resolve(names));
  return partial_runs_.SetUp(ends);
}

absl::Status NamedSession::ContinuePartialRun(const std::string& handle, const Names& names,
                                              const RunArguments& arguments) {
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  EndNames ends;
  {
    absl::MutexLock lock(&mutex_);
    TENON_ASSIGN_OR_RETURN(ends, Resolve({names.inputs, names.outputs, {}}));
  }
  return partial_runs_.Continue(handle, ends, arguments.inputs, arguments.outputs);
}

}  // namespace tenon::api
