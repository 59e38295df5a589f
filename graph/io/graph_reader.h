// GraphDef bytes to a Graph, in place: names, attributes and constants stay views of the bytes.
// Private to graph/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/io/io.h"
#include "graph/ir/graph.h"
#include "graph/verify/import_limits.h"
#include "graph/verify/verifier.h"

namespace tenon {

// Places of a graph's parts in the text that its bytes were made from; empty for binary files.
struct TextPositions {
  std::vector<SourcePos> nodes;
  std::vector<SourcePos> functions;
  SourcePos versions;
};

struct ReadSource {
  std::string_view wire;              // the GraphDef
  std::shared_ptr<const void> owner;  // keeps `wire` alive; the graph shares it
  std::string name;                   // for messages
  TextPositions text;
  bool mapped = false;  // `wire` lies in a mapped file
  uint64_t offset = 0;  // of `wire` in its file
};

// Reads and verifies.
absl::StatusOr<Imported> ImportSource(ReadSource source, const ImportLimits& limits);

class GraphReader {
 public:
  // INVALID_ARGUMENT "file:offset: …" for bytes that are no GraphDef and for limits. Inputs that do
  // not resolve become holes (kNoNode) and are reported in `defects`, as only the reader sees their
  // text; all else is left to the verifier. Linear; forward references are legal; of nodes of one
  // name the first is the one that inputs mean.
  static absl::StatusOr<Graph> Read(ReadSource source, const ImportLimits& limits,
                                    DefectLog* defects);

  // The same for what somebody made of a graph. Nodes whose names were there have the ids that they
  // had. The functions and versions are those of `before`, whatever the bytes say of them; its
  // storage is shared, and so is what did not change. Nothing points into `wire` afterwards.
  static absl::StatusOr<Graph> ReadEdited(std::string_view wire, std::string name,
                                          const Graph& before, const ImportLimits& limits,
                                          DefectLog* defects);

 private:
  GraphReader(ReadSource source, const ImportLimits& limits, DefectLog* defects);
  absl::StatusOr<Graph> ReadGraph();
  void Share(const Graph& before);

  absl::Status Scan();
  absl::Status ReadLibrary(std::string_view library);
  void AddFunction(std::string_view wire);
  absl::Status ReadNodes();
  absl::Status ReadNode(std::string_view wire, SourcePos pos);
  NodeId AppendNode(const Graph::Node& node);
  absl::StatusOr<const NodeKind*> KindOf(std::string_view op,
                                         const std::vector<std::string_view>& entries, NodeId node);
  absl::StatusOr<std::vector<Attr>> ParseAttrs(const std::vector<std::string_view>& entries,
                                               NodeId node);
  // Of an edited graph: the same in what it shares with the one before.
  NodeId KeepNode(Graph::Node node);
  const NodeKind* KeptKind(std::string_view op, std::vector<Attr> attrs, std::string_view name);
  std::string_view KeptText(std::string_view text);
  std::string_view KeptValue(std::string_view wire);
  void IndexNames();
  void ResolveInputs();
  void ResolveBlock(size_t begin, size_t end);
  void OrderInputs(NodeId n);
  void ReportHole(NodeId n, std::string_view text);
  void BadInput(NodeId node, std::string_view message);

  std::string Where(NodeId node) const;
  absl::Status SyntaxError(std::string_view at, NodeId node, std::string_view message) const;
  SourcePos PosOf(const std::vector<SourcePos>& text_pos, size_t index,
                  std::string_view wire) const;

  ReadSource source_;
  const ImportLimits& limits_;
  DefectLog* defects_;
  Graph graph_;
  std::vector<std::string_view> node_wires_;
  std::string_view library_;
  // Input texts of all nodes, those of node n from graph_.nodes_[n].first_input on; data and
  // control as they come.
  std::vector<std::string_view> input_texts_;
  // Scratch of ReadNode, kept for its memory.
  std::vector<std::string_view> attr_entries_;
  std::string extra_;
  int hints_ = 0;
  // Kinds by the bytes they were made from: most nodes of a graph repeat another's op and
  // attributes.
  struct KnownKind {
    std::string_view op;
    std::string_view attrs;
    const NodeKind* kind;
  };
  absl::flat_hash_map<uint64_t, KnownKind> known_kinds_;
  const Graph* before_ = nullptr;  // of an edited graph
  absl::flat_hash_set<NodeId> kept_ids_;
  absl::flat_hash_set<std::string_view> kept_texts_;
  struct HashOfEnds {
    size_t operator()(std::string_view bytes) const;
  };
  absl::flat_hash_set<std::string_view, HashOfEnds> large_values_;  // of `before_`
};

}  // namespace tenon
