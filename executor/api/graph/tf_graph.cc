#include "executor/api/graph/tf_graph.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/c_api/without_memory.h"
#include "graph/wire/versions.h"

TF_Graph::TF_Graph() {
  tenon::Versions versions;
  versions.producer = tenon::kGraphDefVersion;
  graph.SetVersions(tenon::VersionsToWire(versions));
}

namespace tenon::api {
namespace {

// Whether the caller is to delete the graph: nobody has it any more.
bool IsLastOwner(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  return graph.deleted && graph.sessions == 0;
}

}  // namespace

absl::StatusOr<Output> OutputOf(const TF_Graph& graph, TF_Output output) {
  if (output.oper == nullptr) return absl::InvalidArgumentError("Node is null");
  const NodeId n = output.oper->node;
  if (output.oper->graph != &graph) {
    return absl::InvalidArgumentError(output.oper->is_deleted()
                                          ? "the graph of an output's operation was deleted"
                                          : "an output is of an operation of another graph");
  }
  if (output.index < 0 || output.index >= graph.graph.num_outputs(n)) {
    return absl::OutOfRangeError(absl::StrCat("Node '", graph.graph.name(n), "' (type: '",
                                              graph.graph.op_name(n),
                                              "', num of outputs: ", graph.graph.num_outputs(n),
                                              ") does not have output ", output.index));
  }
  return Output{n, output.index};
}

TF_Output OutputToC(TF_Graph& graph, Output output) {
  if (output.node == kNoNode) return {nullptr, 0};
  return {&graph.operations[output.node], output.port};
}

// The nodes have been verified: an error of a shape function can only come from a plug-in that has
// changed its mind, and leaves the shapes unknown.
void KnowShapes(TF_Graph& graph, int32_t nodes) {
  const ShapeOptions options = {.late_constants = true};
  while (graph.shapes.num_nodes() < nodes) graph.shapes.Append(graph.graph, options).IgnoreError();
}

bool IsTaken(const TF_Graph& graph, std::string_view name) {
  return graph.graph.FindNode(name) != kNoNode || graph.prefixes.Has(name);
}

void NoteNewNodes(TF_Graph& graph) {
  for (auto n = static_cast<NodeId>(graph.operations.size()); n < graph.graph.num_node_ids(); ++n)
    graph.operations.Add(&graph);
  ++graph.version;
}

void AddSession(TF_Graph* graph) {
  absl::MutexLock lock(&graph->mutex);
  ++graph->sessions;
}

void DropSession(TF_Graph* graph) {
  bool last;
  {
    absl::MutexLock lock(&graph->mutex);
    --graph->sessions;
    last = IsLastOwner(*graph);
  }
  if (last) TF_Graph::Pool::Delete(graph);
}

void Operations::Add(TF_Graph* graph) {
  if (size_ == chunks_.size() * kChunk) chunks_.push_back(SharedHandlePool<Chunk>::Take());
  TF_Operation& operation = (*this)[size_];
  operation.node = static_cast<NodeId>(size_++);
  operation.graph = graph;
}

void Operations::Truncate(size_t size) {
  while (size_ > size) {
    TF_Operation& operation = (*this)[--size_];
    operation.graph = nullptr;
    operation.name.store(nullptr, std::memory_order_relaxed);
    operation.device.store(nullptr, std::memory_order_relaxed);
  }
  for (; chunks_.size() * kChunk >= size_ + kChunk; chunks_.pop_back())
    SharedHandlePool<Chunk>::Give(chunks_.back());
}

}  // namespace tenon::api

extern "C" {

TF_Graph* TF_NewGraph(void) try { return TF_Graph::Pool::New(); } catch (...) {
  return tenon::WithoutMemory();
}

void TF_DeleteGraph(TF_Graph* g) {
  if (!tenon::IsThere(g)) return;
  bool again, last;
  {
    absl::MutexLock lock(&g->mutex);
    again = std::exchange(g->deleted, true);
    last = tenon::api::IsLastOwner(*g);
  }
  if (again) return tenon::TellOfDeleted("TF_DeleteGraph");
  if (last) TF_Graph::Pool::Delete(g);
}

}  // extern "C"
