// Adds the nodes and functions of a GraphDef to a graph, as TensorFlow does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "executor/api/graph/graph_mark.h"
#include "executor/api/graph/import/import_nodes.h"
#include "executor/api/graph/import/import_options.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/file_bytes.h"

namespace tenon::api {

// Merges the VersionDef bytes of two graphs into those of a graph that has the nodes of both. The
// producer is the lower one. min_consumer is the higher one. A consumer is bad if it is bad for one
// of the graphs.
std::string MergedVersions(std::string_view wire, std::string_view other_wire);

// One import: Run is called once. The caller holds graph.mutex for the whole life of the object.
class GraphImporter {
 public:
  // `options` must outlive the importer.
  GraphImporter(TF_Graph& graph, const TF_ImportGraphDefOptions& options);

  // Adds the nodes and functions of `wire`, GraphDef bytes, to the graph. Fills `results`, which
  // must not be null and must be empty. The graph shares the ownership of the bytes, also after an
  // error. After an error the graph has the nodes, functions and versions that it had before, and
  // `results` is unchanged. Errors have TensorFlow's codes and messages, with one difference:
  // whatever the options are, a node is refused if its final name is taken.
  absl::Status Run(FileBytes wire, TF_ImportGraphDefResults* results);

 private:
  // An input of a node, in ids of the graph; kNoNode for an edge of a loop that is set later.
  struct Source {
    Output output;
    bool existed = false;  // before the import
  };
  struct BackEdge {
    int from;  // of the GraphDef
    int32_t port;
    NodeId to;
    int input;
  };

  absl::Status Import(std::string_view wire, TF_ImportGraphDefResults* results);
  absl::Status CheckOptions() const;
  absl::Status ChoosePrefix();
  absl::Status CheckNames() const;
  bool IsTaken(std::string_view name);
  std::string FreeName(std::string_view name);
  const TF_Output* MappingOf(const InputText& input) const;
  absl::Status AddNodes();
  absl::Status AddNode(int index);
  bool IsMapped(const NodeDefText& node) const;
  std::vector<Source> SourcesOf(const NodeDefText& node);
  void AddControlDependencies(std::vector<Source>* sources) const;
  absl::Status CheckSources(const NodeDefText& node, const std::vector<Source>& sources) const;
  absl::Status CheckColocation(const NodeDefText& node) const;
  std::string_view NameFor(std::string_view name);
  std::vector<Attr> AttrsFor(const NodeDefText& node);
  absl::Status CheckEdge(NodeId n, int input, Output from) const;
  absl::Status CheckAndInfer(NodeId n, const NodeDefText& node);
  absl::Status ApplyShapes(NodeId n, const AttrValue& shapes);
  absl::Status CloseLoops();
  void RenameColocation();
  NodeId NodeOf(std::string_view name) const;
  absl::Status FillResults(TF_ImportGraphDefResults* results) const;
  void FillUnused(TF_ImportGraphDefResults* results) const;

  TF_Graph& graph_;
  const TF_ImportGraphDefOptions& options_;
  GraphDefText def_;
  int producer_ = 0;         // of the GraphDef
  std::string prefix_;       // "" or ends in "/"
  std::vector<NodeId> ids_;  // by node of the GraphDef; kNoNode: not added yet
  std::vector<BackEdge> back_edges_;
  absl::flat_hash_map<std::string_view, std::string_view> renamed_;  // by UniquifyNames
  absl::flat_hash_set<std::string_view> def_prefixes_;               // of names of the GraphDef
  absl::flat_hash_set<NamedPort> used_mappings_;

  GraphMark before_;
};

}  // namespace tenon::api
