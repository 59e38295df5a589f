#include "executor/api/graph/tf_graph.h"

#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"
#include "graph/wire/versions.h"

TF_Graph::TF_Graph() {
  tenon::Versions versions;
  versions.producer = tenon::kGraphDefVersion;
  graph.SetVersions(tenon::VersionsToWire(versions));
}

namespace tenon::api {
namespace {

// The graphs that their owners have not deleted yet: without them, to delete a graph twice would
// hang in the lock of a graph that is gone. Thread-safe.
class LiveGraphs {
 public:
  static LiveGraphs& Get() {
    static auto* const graphs = new LiveGraphs;  // programs delete graphs while the process ends
    return *graphs;
  }
  TF_Graph* Add(TF_Graph* graph) {
    absl::MutexLock lock(&mutex_);
    graphs_.insert(graph);
    return graph;
  }
  // Whether the graph was one of them.
  bool Remove(TF_Graph* graph) {
    absl::MutexLock lock(&mutex_);
    return graphs_.erase(graph) > 0;
  }

 private:
  absl::Mutex mutex_;
  absl::flat_hash_set<TF_Graph*> graphs_ ABSL_GUARDED_BY(mutex_);
};

// Whether the caller is to delete the graph: nobody has it any more.
bool IsLastOwner(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  return graph.deleted && graph.sessions == 0;
}

}  // namespace

absl::StatusOr<Output> OutputOf(const TF_Graph& graph, TF_Output output) {
  if (output.oper == nullptr) return absl::InvalidArgumentError("Node is null");
  const NodeId n = output.oper->node;
  if (output.oper->graph != &graph)
    return absl::InvalidArgumentError("an output is of an operation of another graph");
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
  while (graph.shapes.num_nodes() < nodes) graph.shapes.Append(graph.graph, {}).IgnoreError();
}

bool IsTaken(const TF_Graph& graph, std::string_view name) {
  return graph.graph.FindNode(name) != kNoNode || graph.prefixes.Has(name);
}

void NoteNewNodes(TF_Graph& graph) {
  for (auto n = static_cast<NodeId>(graph.operations.size()); n < graph.graph.num_node_ids(); ++n)
    graph.operations.emplace_back(&graph, n);
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
  if (last) delete graph;
}

}  // namespace tenon::api

extern "C" {

TF_Graph* TF_NewGraph(void) { return tenon::api::LiveGraphs::Get().Add(new TF_Graph); }

void TF_DeleteGraph(TF_Graph* g) {
  if (g == nullptr) return;
  if (!tenon::api::LiveGraphs::Get().Remove(g)) {
    return tenon::WarnOf(
        absl::InvalidArgumentError("TF_DeleteGraph: this graph is deleted already"));
  }
  bool last;
  {
    absl::MutexLock lock(&g->mutex);
    g->deleted = true;
    last = tenon::api::IsLastOwner(*g);
  }
  if (last) delete g;
}

}  // extern "C"
