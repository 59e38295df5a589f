// TF_GraphImportGraphDef and its forms. A whole GraphDef for an empty graph, with nothing asked for
// and nothing wrong, becomes the graph as it is. All others are added node by node, which also
// finds the messages that TensorFlow has for what is wrong.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/call_shapes.h"
#include "executor/api/graph/import/graph_import.h"
#include "executor/api/graph/import/graph_importer.h"
#include "executor/api/graph/node_checks.h"
#include "graph/base/file_bytes.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "graph/ir/cycles.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

bool AsksForNothing(const TF_ImportGraphDefOptions& options) {
  return options.prefix.empty() && options.default_device.empty() && options.input_map.empty() &&
         options.control_dependencies.empty() && options.return_outputs.empty() &&
         options.return_operations.empty();
}

// Whether each node comes behind its inputs, but for edges that close a loop. Then TensorFlow adds
// the nodes in this order too.
bool IsInOrder(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    for (const Output& from : graph.inputs(n)) {
      if (from.node >= n && !IsLoopEdge(graph, from.node, n)) return false;
    }
  }
  return true;
}

// Whether a node waits for another one twice. TensorFlow keeps one of the edges.
bool HasControlTwice(const Graph& graph) {
  std::vector<NodeId> seen;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.control_inputs(n).size() < 2) continue;
    seen.clear();
    for (const Output& from : graph.control_inputs(n)) seen.push_back(from.node);
    std::sort(seen.begin(), seen.end());
    if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) return true;
  }
  return false;
}

// Whether a node has notes of its shapes, which the import is to apply.
bool HasNotedShapes(const Graph& graph) {
  std::vector<bool> seen;  // by NodeKind::index
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    const NodeKind& kind = graph.kind(n);
    if (kind.index >= seen.size()) seen.resize(2 * kind.index + 64);
    if (seen[kind.index]) continue;
    seen[kind.index] = true;
    if (kind.attrs.Find(kOutputShapesAttr) != nullptr) return true;
  }
  return false;
}

// Whether a node calls a function of the graph, whose body may refuse the call.
bool CallsAFunction(const Graph& graph) {
  if (graph.functions().empty()) return false;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.facts(n).calls == CallKind::kFunction ||
        graph.FindFunction(graph.op_name(n)) != nullptr)
      return true;
  }
  return false;
}

bool HidesAnOp(const Graph& graph) {
  for (const FunctionEntry& function : graph.functions()) {
    if (OpRegistry::Global().Find(function.name) != nullptr) return true;
  }
  return false;
}

// Whether the notes say all that the body of a called function could say of the node's outputs.
bool SayEnough(const Graph& graph, NodeId n, const std::vector<PartialShape>& notes) {
  for (int i = 0; i < graph.num_outputs(n); ++i) {
    const DataType type = BaseType(graph.output_type({n, i}));
    if (!notes[i].known_rank() || type == DataType::kResource || type == DataType::kVariant)
      return false;
  }
  return true;
}

// Infers node n, the next one, and takes its notes out: they become what is known of the outputs.
// False for notes that are wrong.
bool InferNoted(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  if (!graph.shapes.Append(graph.graph, {.late_constants = true}).ok()) return false;
  const AttrValue* const value = graph.graph.attrs(n).Find(kOutputShapesAttr);
  if (value == nullptr) return InferCall(graph, n).ok();
  const absl::StatusOr<std::vector<PartialShape>> notes = value->AsShapeList();
  if (!notes.ok() || notes->size() < static_cast<size_t>(graph.graph.num_outputs(n))) return false;
  if (!SayEnough(graph.graph, n, *notes) && !InferCall(graph, n).ok()) return false;
  for (int i = 0; i < graph.graph.num_outputs(n); ++i) {
    if (!MergeKnownShape(graph, {n, i}, (*notes)[i]).ok()) return false;
  }
  graph.graph.RemoveAttr(n, kOutputShapesAttr);
  return true;
}

bool InferAllNoted(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  for (NodeId n = 0; n < graph.graph.num_node_ids(); ++n) {
    if (!InferNoted(graph, n)) return false;
  }
  return true;
}

// Makes the GraphDef the graph, if nothing speaks against it.
bool Adopt(TF_Graph& graph, FileBytes wire) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  if (graph.graph.num_node_ids() != 0 || !graph.graph.functions().empty()) return false;
  absl::StatusOr<Imported> imported = ImportBinary(std::move(wire), "");
  if (!imported.ok() || !imported->defects.empty()) return false;
  Graph& read = imported->graph;
  if (!IsInOrder(read) || HasControlTwice(read) || HidesAnOp(read)) return false;
  // A place in bytes that the program has thrown away helps nobody.
  read.InheritPositions(Graph());
  read.SetVersions(MergedVersions(graph.graph.versions_wire(), read.versions_wire()));
  if (!read.functions().empty()) NeedReaderOfFunctions(read);
  Graph before = std::exchange(graph.graph, std::move(read));
  if ((HasNotedShapes(graph.graph) || CallsAFunction(graph.graph)) && !InferAllNoted(graph)) {
    graph.graph = std::move(before);
    graph.shapes = GraphShapes();
    return false;
  }
  graph.checked_kinds.clear();
  NoteNewNodes(graph);
  return true;
}

absl::Status Import(TF_Graph& graph, FileBytes wire, const TF_ImportGraphDefOptions& options,
                    TF_ImportGraphDefResults* results) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  if (AsksForNothing(options) && Adopt(graph, wire)) return absl::OkStatus();
  return GraphImporter(graph, options).Run(std::move(wire), results);
}

TF_ImportGraphDefResults* ImportInto(TF_Graph* graph, const TF_Buffer* graph_def,
                                     const TF_ImportGraphDefOptions* options, TF_Status* status) {
  if (!AllGiven({{"graph", graph}, {"graph_def", graph_def}, {"options", options}}, status) ||
      !IsBytes("graph_def", graph_def->data, graph_def->length, status))
    return nullptr;
  if (options->lacks_memory) {
    StatusToC(OutOfMemory(), status);
    return nullptr;
  }
  TF_ImportGraphDefResults* const results = TF_ImportGraphDefResults::Pool::New();
  absl::Status imported;
  FileBytes wire = KeepBytes(*graph_def);
  {
    absl::MutexLock lock(&graph->mutex);
    imported = Import(*graph, std::move(wire), *options, results);
  }
  StatusToC(imported, status);
  if (imported.ok()) return results;
  TF_DeleteImportGraphDefResults(results);
  return nullptr;
}

}  // namespace

absl::Status ImportGraphDef(TF_Graph& graph, std::string_view wire) {
  TF_ImportGraphDefResults results;
  return Import(graph, BytesOf(std::string(wire)), TF_ImportGraphDefOptions(), &results);
}

}  // namespace tenon::api

extern "C" {

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(TF_Graph* graph,
                                                            const TF_Buffer* graph_def,
                                                            const TF_ImportGraphDefOptions* options,
                                                            TF_Status* status) try {
  return tenon::api::ImportInto(graph, graph_def, options, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResultsNoSerialization(
    TF_Graph*, const TF_Buffer*, const TF_ImportGraphDefOptions*, TF_Status* status) try {
  tenon::StatusToC(absl::UnimplementedError("a GraphDef object of TensorFlow's C++ library cannot "
                                            "be read: pass the serialized message to "
                                            "TF_GraphImportGraphDefWithResults"),
                   status);
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph, const TF_Buffer* graph_def,
                                             const TF_ImportGraphDefOptions* options,
                                             TF_Output* return_outputs, int num_return_outputs,
                                             TF_Status* status) try {
  if (!tenon::api::AllGiven({{"options", options}}, status) ||
      !tenon::api::IsArray("return_outputs", return_outputs, num_return_outputs, status))
    return;
  const int wanted = TF_ImportGraphDefOptionsNumReturnOutputs(options);
  if (num_return_outputs != wanted) {
    return tenon::StatusToC(
        absl::InvalidArgumentError(absl::StrCat("Expected 'num_return_outputs' to be ", wanted,
                                                ", got ", num_return_outputs)),
        status);
  }
  TF_ImportGraphDefResults* const results =
      tenon::api::ImportInto(graph, graph_def, options, status);
  if (results == nullptr) return;
  std::copy(results->outputs.begin(), results->outputs.end(), return_outputs);
  TF_DeleteImportGraphDefResults(results);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def,
                            const TF_ImportGraphDefOptions* options, TF_Status* status) try {
  TF_DeleteImportGraphDefResults(tenon::api::ImportInto(graph, graph_def, options, status));
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
